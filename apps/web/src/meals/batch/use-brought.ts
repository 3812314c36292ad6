import { useEffect, useRef } from 'react'
import { useGarner } from '../../garner.ts'
import { isField } from '../../ui/keys.ts'

/**
 * Photos that are dragged onto the page, from anywhere, or copied and pasted. Dragged ones open the uploader as soon as
 * they are over the page, and count wherever they are let go: a miss would make the browser leave the page for the
 * picture. Another sheet that is open is left alone, with what is being written in it.
 */
export function useBrought({ onComing }: { onComing(): void }): void {
  const { batch, notice } = useGarner()
  const now = useRef(onComing)
  now.current = onComing
  useEffect(() => {
    const take = (data: DataTransfer | null) => {
      const { files, hasFolders } = filesIn(data)
      if (hasFolders) notice.show('Folders are not opened: drop the photos in them.')
      if (files.length === 0) return
      now.current()
      void batch.pick(files)
    }
    const onEnter = (event: DragEvent) => {
      if (hasFiles(event) && !isElsewhere()) now.current()
    }
    const onOver = (event: DragEvent) => {
      if (hasFiles(event)) event.preventDefault()
    }
    const onDrop = (event: DragEvent) => {
      if (!hasFiles(event)) return
      event.preventDefault()
      if (!isElsewhere()) take(event.dataTransfer)
    }
    const onPaste = (event: ClipboardEvent) => {
      const data = event.clipboardData
      if (!data?.types.includes('Files') || isElsewhere()) return
      // Words and cells are copied with a picture of themselves; a field takes the words.
      if (isField(event.target) && data.types.includes('text/plain')) return
      event.preventDefault()
      take(data)
    }
    addEventListener('dragenter', onEnter)
    addEventListener('dragover', onOver)
    addEventListener('drop', onDrop)
    addEventListener('paste', onPaste)
    return () => {
      removeEventListener('dragenter', onEnter)
      removeEventListener('dragover', onOver)
      removeEventListener('drop', onDrop)
      removeEventListener('paste', onPaste)
    }
  }, [batch, notice])
}

const hasFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes('Files') ?? false

const isElsewhere = () => document.querySelector('dialog[open]:not(.batch)') !== null

/** A folder comes as a file that cannot be read: it would look like a connection that drops, again and again. */
function filesIn(data: DataTransfer | null): { files: File[]; hasFolders: boolean } {
  const items = [...(data?.items ?? [])].filter((item) => item.kind === 'file')
  const isFolder = (item: DataTransferItem) => item.webkitGetAsEntry?.()?.isDirectory ?? false
  const files = items.filter((item) => !isFolder(item)).map((item) => item.getAsFile())
  return { files: files.filter((file) => file !== null), hasFolders: items.some(isFolder) }
}
