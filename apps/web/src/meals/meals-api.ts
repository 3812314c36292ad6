import type { Http } from '../http/http.ts'
import type { Uploader } from '../http/upload.ts'
import type {
  CreatedShare,
  CreateShare,
  Day,
  DayList,
  EditMeal,
  Goals,
  Meal,
  Pending,
  PutGoals,
  Share,
  Uploaded,
  VisionAllowance,
  WriteMeal,
} from './contract.ts'

export interface PhotoUpload {
  key: string
  file: File
  when: { date: string; time: string }
  offset: string | null
  zone: string
  since: { date: string; time: string } | null
  force: boolean
  onProgress(sent: number): void
}

/** The meal diary's routes, one method each. */
export class MealsApi {
  readonly #http: Http
  readonly #uploader: Uploader

  constructor(http: Http, uploader: Uploader) {
    this.#http = http
    this.#uploader = uploader
  }

  /** Every day from `from` to `to`, also those without meals. */
  async days(from: string, to: string, signal?: AbortSignal): Promise<Day[]> {
    const query = new URLSearchParams({ from, to })
    return (await this.#http.send<DayList>('GET', `/api/meals?${query}`, { signal })).body.days
  }

  async lastDays(days: number, anchor: string, signal?: AbortSignal): Promise<Day[]> {
    const query = new URLSearchParams({ days: String(days), anchor })
    return (await this.#http.send<DayList>('GET', `/api/meals?${query}`, { signal })).body.days
  }

  async write(meal: WriteMeal, key: string): Promise<Meal> {
    const headers = { 'Idempotency-Key': key }
    return (await this.#http.send<Meal>('POST', '/api/meals', { body: meal, headers })).body
  }

  async edit(id: string, change: EditMeal): Promise<Meal> {
    return (await this.#http.send<Meal>('PATCH', mealPath(id), { body: change })).body
  }

  async remove(id: string): Promise<void> {
    await this.#http.send('DELETE', mealPath(id))
  }

  /** Estimate again: uses one of the day's. */
  async estimate(id: string, key: string): Promise<void> {
    await this.#http.send('POST', `${mealPath(id)}/estimate`, { headers: { 'Idempotency-Key': key } })
  }

  async pending(signal?: AbortSignal): Promise<Pending> {
    return (await this.#http.send<Pending>('GET', '/api/auto-log/pending', { signal })).body
  }

  /** A dead entry, without a second bill. */
  async retry(entryId: string, key: string): Promise<void> {
    const path = `/api/auto-log/${encodeURIComponent(entryId)}/retry`
    await this.#http.send('POST', path, { headers: { 'Idempotency-Key': key } })
  }

  /** A photo that is no meal yet, or could not become one: it goes, with its bytes. */
  async takeBack(entryId: string): Promise<void> {
    await this.#http.send('DELETE', `/api/auto-log/${encodeURIComponent(entryId)}`)
  }

  upload(photo: PhotoUpload): Promise<Uploaded> {
    const { file, when, since, offset } = photo
    const form = new FormData()
    // Fields before the file: the server can refuse before it has read 25 MB.
    form.append('date', when.date)
    form.append('time', when.time)
    if (offset !== null) form.append('offset', offset)
    form.append('zone', photo.zone)
    if (file.lastModified > 0) form.append('last_modified', String(file.lastModified))
    if (since) {
      form.append('since', since.date)
      form.append('since_time', since.time)
    }
    if (photo.force) form.append('force', 'true')
    form.append('filename', file.name)
    form.append('photo', file, file.name)
    return this.#uploader.send<Uploaded>({
      path: '/api/auto-log',
      form,
      headers: { 'Idempotency-Key': photo.key },
      onProgress: photo.onProgress,
    })
  }

  async allowance(signal?: AbortSignal): Promise<VisionAllowance> {
    return (await this.#http.send<VisionAllowance>('GET', '/api/allowance', { signal })).body
  }

  async goals(signal?: AbortSignal): Promise<Goals> {
    return (await this.#http.send<Goals>('GET', '/api/goals', { signal })).body
  }

  async putGoals(goals: PutGoals): Promise<Goals> {
    return (await this.#http.send<Goals>('PUT', '/api/goals', { body: goals })).body
  }

  async shares(): Promise<Share[]> {
    return (await this.#http.send<{ shares: Share[] }>('GET', '/api/shares')).body.shares
  }

  async share(share: CreateShare, key: string): Promise<CreatedShare> {
    const headers = { 'Idempotency-Key': key }
    return (await this.#http.send<CreatedShare>('POST', '/api/shares', { body: share, headers })).body
  }

  async stopShare(id: string): Promise<void> {
    await this.#http.send('DELETE', `/api/shares/${encodeURIComponent(id)}`)
  }

  /** A photo's bytes, for the demo: there a person is a header, and an image of a page sends none. */
  async photo(url: string, signal?: AbortSignal): Promise<Blob> {
    return (await this.#http.open('GET', url, { ...(signal ? { signal } : {}), isCacheable: true })).blob()
  }
}

const mealPath = (id: string) => `/api/meals/${encodeURIComponent(id)}`
