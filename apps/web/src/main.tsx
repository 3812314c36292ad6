import '@fontsource-variable/atkinson-hyperlegible-next/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/parts.css'
import { QueryClientProvider } from '@tanstack/react-query'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { realBrowser } from './browser.ts'
import { Crash } from './crash.tsx'
import { createGarner, GarnerContext } from './garner.ts'
import { applyLook } from './preferences.ts'

const garner = createGarner(realBrowser())
const { look } = garner.preferences
applyLook(document.documentElement, look.get())
look.subscribe(() => applyLook(document.documentElement, look.get()))

const root = document.getElementById('root')
if (!root) throw new Error('main: expected #root in index.html, found none')
createRoot(root).render(
  <StrictMode>
    <GarnerContext value={garner}>
      <QueryClientProvider client={garner.queries}>
        <Crash>
          <App />
        </Crash>
      </QueryClientProvider>
    </GarnerContext>
  </StrictMode>,
)
