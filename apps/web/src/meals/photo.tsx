import { useEffect, useRef, useState } from 'react'
import { useGarner } from '../garner.ts'
import { useStore } from '../store.ts'
import { Icon } from '../ui/icon.tsx'

/** A meal's photo, loaded when it comes near the window. Without one that can be shown, a plain tile. */
export function Photo(props: {
  url: string | null
  alt: string
  className?: string
  width?: number
  height?: number
}) {
  const { demoUser } = useGarner()
  const isDemo = useStore(demoUser) !== null
  const [failed, setFailed] = useState<string | null>(null)
  const { url, alt, className = '', width = 480, height = 360 } = props
  if (url === null || failed === url) {
    return (
      <span className={`tile ${className}`}>
        <Icon name="meals" />
        <span className="visually-hidden">{alt}</span>
      </span>
    )
  }
  const shown = { alt, className, width, height, onError: () => setFailed(url) }
  return isDemo && url.startsWith('/api/') ? (
    <FetchedPhoto key={url} url={url} {...shown} />
  ) : (
    <img src={url} loading="lazy" decoding="async" {...shown} alt={alt} />
  )
}

interface Shown {
  alt: string
  className: string
  width: number
  height: number
  onError(): void
}

/** In demo mode a person is a header, which an image of the page does not send: it is fetched once it is nearly seen. */
function FetchedPhoto({ url, onError, ...shown }: Shown & { url: string }) {
  const { meals } = useGarner()
  const [src, setSrc] = useState<string | null>(null)
  const place = useRef<HTMLImageElement>(null)
  const failed = useRef(onError)
  failed.current = onError
  useEffect(() => {
    const element = place.current
    if (!element) return
    const stop = new AbortController()
    let made: string | null = null
    const load = async () => {
      try {
        made = URL.createObjectURL(await meals.photo(url, stop.signal))
        if (stop.signal.aborted) URL.revokeObjectURL(made)
        else setSrc(made)
      } catch {
        if (!stop.signal.aborted) failed.current()
      }
    }
    const near = new IntersectionObserver(
      (entries) => {
        if (!entries.some((entry) => entry.isIntersecting)) return
        near.disconnect()
        void load()
      },
      { rootMargin: '400px' },
    )
    near.observe(element)
    return () => {
      near.disconnect()
      stop.abort()
      if (made) URL.revokeObjectURL(made)
    }
  }, [url, meals])
  // A picture of nothing until then: an image without a source has no size in some browsers.
  return <img ref={place} src={src ?? BLANK} decoding="async" {...shown} alt={shown.alt} />
}

const BLANK = 'data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=='
