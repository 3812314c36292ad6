import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

/**
 * `vite build` writes dist/, which the server hands out. `vite` alone serves the sources and passes /api on to a
 * running Garner; GARNER_API names another address, such as that of the fake API in testing/.
 */
export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: { target: 'es2022', assetsInlineLimit: 0, reportCompressedSize: true },
  server: { proxy: { '/api': process.env.GARNER_API ?? 'http://127.0.0.1:8080' } },
})
