import { useEffect, useRef } from 'react'

/** Files dragged over the page open the uploader, which is where they can be dropped; elsewhere they do nothing. */
export function useDragged(onDragged: () => void): void {
  const now = useRef(onDragged)
  now.current = onDragged
  useEffect(() => {
    const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes('Files') ?? false
    const onEnter = (event: DragEvent) => {
      if (hasFiles(event) && !document.querySelector('dialog[open]')) now.current()
    }
    // A miss must not make the browser leave the page for the picture.
    const onOver = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault()
    }
    addEventListener('dragenter', onEnter)
    addEventListener('dragover', onOver)
    addEventListener('drop', onOver)
    return () => {
      removeEventListener('dragenter', onEnter)
      removeEventListener('dragover', onOver)
      removeEventListener('drop', onOver)
    }
  }, [])
}
