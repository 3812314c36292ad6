import { Tokenizer, type TokenizerCallbacks } from 'htmlparser2'
import { charsetOf } from './charset.ts'
import { RawText } from './raw-text.ts'
import { parseRefresh } from './redirect.ts'

/**
 * Reads a page as it arrives and keeps the few things that a title can be made of. The tokenizer follows the
 * HTML standard (raw text in scripts, character references, comments); this adds which elements count: not
 * those in an inline SVG, nor in a template. No tree and no stack is built, so a million open tags cost nothing.
 *
 * Assumes bytes in a charset that leaves ASCII markup alone; UTF-16 is turned into UTF-8 before (page-reader.ts).
 * `isEnough` says when nothing better can come; reading on after that is wasted.
 */

/** Visible characters that make a page more than "you are being redirected". Link texts do not count. */
const CONTENT_MIN = 120
/** With only a preview title so far, the title element may still come in a body: look this much further. */
const FALLBACK_REACH = 64 * 1024
/** With a title but no end of the head: what is still of use (a refresh, the site's name) is near. */
const TITLE_REACH = 256 * 1024
/** A refresh of 0 or 1 second is a redirect; a longer one is a reload timer or a slide show. */
const REFRESH_MAX_S = 1

/** Start tags that may stand in a head. Any other one, `body` included, ends it. */
const HEAD_TAGS = new Set(
  'html head title meta link base basefont bgsound script style noscript template noframes'.split(' '),
)
/** Text inside these is not seen on the page. */
const UNSEEN = new Set('script style title textarea noscript template iframe noembed noframes xmp'.split(' '))
/** HTML start tags that end an SVG or formula someone forgot to close (HTML standard, 13.2.6.5). */
const BREAKOUT = new Set(
  (
    'b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu ' +
    'meta nobr ol p pre ruby s small span strong strike sub sup table tt u ul var'
  ).split(' '),
)
const ATTRIBUTES = new Set('charset http-equiv content property name'.split(' '))

export interface Refresh {
  url: RawText
  /** Inside noscript: meant for readers without script, and often only a page that asks to switch it on. */
  isForNoScript: boolean
}

export class HtmlHead {
  /** The first title element with anything in it. */
  title: RawText | undefined
  /** Its end tag has been seen: the text is whole. */
  isTitleClosed = false
  ogTitle: RawText | undefined
  twitterTitle: RawText | undefined
  siteName: RawText | undefined
  readonly charsetLabels: string[] = []
  refresh: Refresh | undefined

  readonly #isXml: boolean
  readonly #tokenizer: Tokenizer
  #chunks: string[] = []
  #chunksStart = 0
  #read = 0
  #titleAt: number | undefined
  #headOverAt: number | undefined
  #visible = 0

  #tag = ''
  #attribute = ''
  #attributes: Map<string, RawText> | undefined
  #unseen: string | undefined
  #titleBeing: RawText | undefined
  #foreign = 0
  #integration = 0
  #template = 0
  #noscript = false
  #link = false

  /** @param isXml the page calls itself XHTML: `<script/>` has no content there. */
  constructor({ isXml = false }: { isXml?: boolean } = {}) {
    this.#isXml = isXml
    this.#tokenizer = new Tokenizer({ recognizeSelfClosing: isXml }, this.#events())
  }

  write(bytes: Buffer): void {
    const text = bytes.toString('latin1')
    this.#chunks.push(text)
    this.#read += text.length
    this.#tokenizer.write(text)
  }

  /** The page is over, or nobody will read on. */
  end(): void {
    this.#tokenizer.end()
    if (this.#titleBeing) this.#keepTitle(this.#titleBeing.firstLine())
    this.#titleBeing = undefined
  }

  get isEnough(): boolean {
    if (this.refresh) return this.hasContent
    const since = (at: number | undefined) => (at === undefined ? -1 : this.#read - at)
    if (this.title) return this.#headOverAt !== undefined || since(this.#titleAt) > TITLE_REACH
    if (this.ogTitle || this.twitterTitle) return since(this.#headOverAt) > FALLBACK_REACH
    return false
  }

  get hasContent(): boolean {
    return this.#visible >= CONTENT_MIN
  }

  #events(): TokenizerCallbacks {
    return {
      onopentagname: (start, end) => this.#open(this.#slice(start, end).toLowerCase()),
      onattribname: (start, end) => {
        this.#attribute = this.#attributes ? this.#slice(start, end).toLowerCase() : ''
        if (this.#attributes && (!ATTRIBUTES.has(this.#attribute) || this.#attributes.has(this.#attribute))) {
          this.#attribute = ''
        } else if (this.#attributes) this.#attributes.set(this.#attribute, new RawText())
      },
      onattribdata: (start, end) => {
        if (this.#attribute !== '') this.#attributes?.get(this.#attribute)?.bytes(this.#slice(start, end))
      },
      onattribentity: (code) => {
        if (this.#attribute !== '') this.#attributes?.get(this.#attribute)?.codePoint(code)
      },
      onattribend: () => {
        this.#attribute = ''
      },
      onopentagend: () => this.#openEnd(),
      onselfclosingtag: () => {
        this.#openEnd()
        if (this.#foreign > 0 || this.#isXml) this.#close(this.#tag)
      },
      onclosetag: (start, end) => this.#close(this.#slice(start, end).toLowerCase()),
      ontext: (start, end) => this.#text(start, end),
      ontextentity: (code) => {
        if (this.#titleBeing) this.#titleBeing.codePoint(code)
        else this.#see(1)
      },
      isInForeignContext: () => this.#foreign > 0 && this.#integration === 0,
      oncomment: () => {},
      oncdata: () => {},
      ondeclaration: () => {},
      onprocessinginstruction: () => {},
      onend: () => {},
    }
  }

  #open(name: string): void {
    this.#tag = name
    this.#attributes = name === 'meta' ? new Map() : undefined
    if (this.#foreign > 0 && this.#integration === 0 && BREAKOUT.has(name)) this.#foreign = 0
    if (this.#foreign > 0) {
      if (name === 'foreignobject' || name === 'desc' || name === 'annotation-xml') this.#integration++
    }
    if (name === 'svg' || name === 'math') this.#foreign++
    else if (name === 'template') this.#template++
    else if (name === 'noscript') this.#noscript = true
    else if (name === 'a') this.#link = true
    if (!HEAD_TAGS.has(name) && this.#foreign === 0 && this.#template === 0 && !this.#noscript)
      this.#headOver()
  }

  #openEnd(): void {
    const name = this.#tag
    if (this.#attributes && this.#template === 0) this.#meta(this.#attributes)
    this.#attributes = undefined
    const isHtml = this.#foreign === 0
    if (isHtml && UNSEEN.has(name) && name !== 'noscript' && name !== 'template') this.#unseen = name
    if (isHtml && name === 'title' && this.#template === 0 && !this.title) this.#titleBeing = new RawText()
  }

  #close(name: string): void {
    if (name === this.#unseen) this.#unseen = undefined
    if (name === 'title' && this.#titleBeing) {
      const isKept = this.#keepTitle(this.#titleBeing)
      this.#titleBeing = undefined
      this.isTitleClosed = isKept
    } else if (name === 'svg' || name === 'math') {
      this.#foreign = Math.max(0, this.#foreign - 1)
      if (this.#foreign === 0) this.#integration = 0
    } else if (name === 'foreignobject' || name === 'desc' || name === 'annotation-xml') {
      this.#integration = Math.max(0, this.#integration - 1)
    } else if (name === 'template') this.#template = Math.max(0, this.#template - 1)
    else if (name === 'noscript') this.#noscript = false
    else if (name === 'a') this.#link = false
    else if (name === 'head') this.#headOver()
  }

  #text(start: number, end: number): void {
    if (this.#titleBeing) this.#titleBeing.bytes(this.#slice(start, end))
    else if (this.#isSeen && !this.hasContent)
      this.#see(this.#slice(start, end).replace(/[\0\s]+/g, '').length)
    else this.#forget(end)
  }

  get #isSeen(): boolean {
    return this.#unseen === undefined && this.#template === 0 && this.#foreign === 0 && !this.#noscript
  }

  #see(characters: number): void {
    if (characters === 0 || !this.#isSeen) return
    this.#headOver()
    if (!this.#link) this.#visible += characters
  }

  #headOver(): void {
    this.#headOverAt ??= this.#read
  }

  #keepTitle(text: RawText): boolean {
    if (text.isBlank || this.title) return false
    this.title = text
    this.#titleAt = this.#read
    return true
  }

  #meta(attributes: Map<string, RawText>): void {
    const charset = attributes.get('charset')?.latin1()
    if (charset) this.charsetLabels.push(charset)
    const content = attributes.get('content')
    if (!content) return
    const kind = attributes.get('http-equiv')?.latin1().trim().toLowerCase()
    if (kind === 'content-type') {
      const label = charsetOf(content.latin1())
      if (label) this.charsetLabels.push(label)
    }
    if (kind === 'refresh') this.#keepRefresh(content)
    if (content.isBlank) return
    const property = (attributes.get('property') ?? attributes.get('name'))?.latin1().trim().toLowerCase()
    if (property === 'og:title') this.ogTitle ??= content
    else if (property === 'twitter:title') this.twitterTitle ??= content
    else if (property === 'og:site_name') this.siteName ??= content
  }

  #keepRefresh(content: RawText): void {
    const parsed = parseRefresh(content.latin1())
    if (!parsed || parsed.delayS > REFRESH_MAX_S || this.refresh) return
    this.refresh = { url: content, isForNoScript: this.#noscript }
  }

  /** Reads from the chunks at hand and lets go of those that no later event can ask for. */
  #slice(start: number, end: number): string {
    this.#forget(start)
    let text = this.#chunks[0]?.slice(start - this.#chunksStart, end - this.#chunksStart) ?? ''
    let at = this.#chunksStart + (this.#chunks[0]?.length ?? 0)
    for (let i = 1; at < end && i < this.#chunks.length; i++) {
      text += this.#chunks[i]!.slice(0, end - at)
      at += this.#chunks[i]!.length
    }
    return text
  }

  #forget(before: number): void {
    let first = this.#chunks[0]
    while (first !== undefined && this.#chunksStart + first.length <= before) {
      this.#chunks.shift()
      this.#chunksStart += first.length
      first = this.#chunks[0]
    }
  }
}
