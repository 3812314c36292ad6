import type { Bookmark, GroupSummary, Me, SavedBookmark } from '@garner/server/api'
import { useMemo } from 'react'
import { type Garner, useGarner } from '../garner.ts'
import { explained, failureOf } from '../http/failure.ts'
import { onDay } from '../words/calendar.ts'
import { safeHref } from '../words/link.ts'
import { changesIn, collisions, type Draft, type Written } from './drafts.ts'
import { addOwn, removeItem, replaceItem, setRead } from './list.ts'
import { editLists } from './use-list.ts'

/** What one may do with a link. Each tells the lists at once, and takes it back, with words, when the server refuses. */
export interface Links {
  setRead(item: Bookmark, isRead: boolean): void
  open(item: Bookmark): void
  lookAgain(item: Bookmark): void
  remove(item: Bookmark): Promise<void>
  copy(item: Bookmark): void
  /** True when it is saved or there was nothing to save; a conflict or a refusal keeps the draft. */
  saveDraft(item: Bookmark, draft: Draft): Promise<{ saved: boolean; problem: string | null }>
  /** A save that succeeded, from the box or the outbox. */
  saved(link: SavedBookmark, followUp: SavedFollowUp): void
}

export interface SavedFollowUp {
  addNote(item: Bookmark): void
  show(item: Bookmark): void
  saveAnyway(item: Bookmark): void
}

export function useLinks(me: Me): Links {
  const garner = useGarner()
  return useMemo(() => createLinks(garner, me), [garner, me])
}

function createLinks(garner: Garner, me: Me): Links {
  const { api, browser, drafts, notice, queries } = garner
  const person = { id: me.id, name: me.name }

  const groupOf = (id: string) =>
    queries.getQueryData<GroupSummary[]>(['groups'])?.find((group) => group.id === id)
  const again = (item: Bookmark) => void queries.invalidateQueries({ queryKey: ['bookmark', item.id] })
  const put = (item: Bookmark) => {
    editLists(queries, item.group, (view) => replaceItem(view, item))
    again(item)
  }

  const links: Links = {
    setRead(item, isRead) {
      const shown = groupOf(item.group)?.show_reads ? person : null
      const mark = (value: boolean) => {
        editLists(queries, item.group, (view) => setRead(view, item.id, value, shown))
        void queries.invalidateQueries({ queryKey: ['groups'] })
      }
      editLists(queries, item.group, (view) => setRead(view, item.id, isRead, shown))
      api.markRead(item, isRead).then(
        () => {
          again(item)
          void queries.invalidateQueries({ queryKey: ['groups'] })
        },
        (error: unknown) => {
          mark(!isRead)
          notice.show(`The mark was not kept. ${explained(error)}`, [
            { label: 'Try again', run: () => links.setRead(item, isRead) },
          ])
        },
      )
    },

    open(item) {
      const href = safeHref(item.url)
      if (href === null) return
      window.open(href, '_blank', 'noopener,noreferrer')
      if (!item.is_read) links.setRead(item, true)
    },

    lookAgain(item) {
      api.refresh(item, browser.newId()).then(
        () => {
          const waits = item.title_status !== 'ready'
          if (waits) put({ ...item, title_status: 'pending', title_tries: 0, title_next_try_at: null })
          else again(item)
          notice.say('Looking for the title again.')
          if (!waits) notice.show('Looking for the title again. The one it has stays until then.')
        },
        (error: unknown) =>
          notice.show(`The title was not asked for. ${explained(error)}`, [
            { label: 'Try again', run: () => links.lookAgain(item) },
          ]),
      )
    },

    async remove(item) {
      try {
        await api.remove(item)
      } catch (error) {
        const failure = failureOf(error)
        if (failure.status !== 404) {
          notice.show(`Not deleted. ${explained(error)}`)
          return
        }
      }
      editLists(queries, item.group, (view) => removeItem(view, item.id, me.id))
      queries.removeQueries({ queryKey: ['bookmark', item.id] })
      void queries.invalidateQueries({ queryKey: ['groups'] })
      notice.show('Deleted. Nothing of it is left here.')
    },

    copy(item) {
      navigator.clipboard?.writeText(item.url).then(
        () => notice.show('Link copied'),
        () => notice.show('The browser did not allow copying.'),
      )
    },

    async saveDraft(item, draft) {
      const current = draft.conflict ?? item
      const changes = changesIn(draft, current)
      if (!changes) {
        drafts.set(item.id, null)
        return { saved: true, problem: null }
      }
      drafts.set(item.id, draft)
      try {
        put(await editUnlessItCollides(current, draft, changes))
        drafts.set(item.id, null)
        notice.show('Saved')
        return { saved: true, problem: null }
      } catch (error) {
        const found = conflictIn(error)
        if (!found) return { saved: false, problem: `Not saved yet. ${explained(error)}` }
        put(found)
        drafts.set(item.id, { ...draft, conflict: found })
        return { saved: false, problem: null }
      }
    },

    saved(link, followUp) {
      const { duplicate, ...item } = link
      if (duplicate) {
        const by = item.owner.id === me.id ? 'you' : item.owner.name
        const at = onDay(Date.parse(item.saved_at), { nowMs: browser.clock.nowMs() })
        notice.show(`Already here: ${by} saved it ${at}`, [
          { label: 'Show it', run: () => followUp.show(item) },
          { label: 'Save anyway', run: () => followUp.saveAnyway(item) },
        ])
        return
      }
      editLists(queries, item.group, (view, filter) => (filter.q === '' ? addOwn(view, item) : view))
      void queries.invalidateQueries({ queryKey: ['groups'] })
      notice.show(`Saved to ${groupOf(item.group)?.name ?? 'your list'}`, [
        { label: 'Add a note', run: () => followUp.addNote(item) },
        { label: 'Undo', run: () => void links.remove(item) },
      ])
    },
  }

  /** Somebody changed another part of it meanwhile: then both changes stand, and nobody is asked. */
  async function editUnlessItCollides(
    current: Bookmark,
    draft: Draft,
    changes: Partial<Written>,
  ): Promise<Bookmark> {
    const version = draft.conflict?.version ?? draft.version
    try {
      return await api.edit(current, { version, ...changes })
    } catch (error) {
      const found = conflictIn(error)
      if (!found || draft.conflict || collisions(draft, found).length > 0) throw error
      return api.edit(found, { version: found.version, ...changes })
    }
  }

  return links
}

/** The item as the server has it, out of its 409; null for every other error. */
function conflictIn(error: unknown): Bookmark | null {
  const failure = failureOf(error)
  return failure.status === 409 && failure.current ? (failure.current as Bookmark) : null
}
