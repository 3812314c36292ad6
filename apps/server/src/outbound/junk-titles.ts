/**
 * Titles that are not the title of the page that was asked for. Whole titles only, never beginnings: "Just a
 * moment: a short history of the pause" is an article. Compared without case, without the punctuation at the
 * end, and with every kind of dash, bar and dot as the same separator.
 */

/** A wall that asks for a human. The page behind it may come another time. */
const CHALLENGE = [
  /^just a moment$/,
  /^(einen|nur einen) moment( bitte)?$/,
  /^un (momento|instant|moment)( por favor| s'il vous plaît)?$/,
  /^un attimo$/,
  /^please wait( \| cloudflare)?$/,
  /^(one moment,? please|please wait a moment)$/,
  /^attention required( \| cloudflare)?$/,
  /^(please )?(verify|verifying|confirm) (that )?you are (a )?human( \| .{1,40})?$/,
  /^(human|bot) (verification|check|challenge)$/,
  /^are you (a )?(robot|human)( or (a )?(robot|human))?$/,
  /^.{1,30} \| are you a robot$/,
  /^robot or human$/,
  /^making sure you( a|')re not a bot$/,
  /^checking (your browser|if the site connection is secure|if you are human)( before accessing .{1,80})?$/,
  /^(vercel )?security checkpoint$/,
  /^(client challenge|security (check|verification)( required)?)$/,
  /^access to this page has been denied$/,
  /^pardon our interruption$/,
  /^ddos( \| |-)guard$/,
  /^(re)?captcha( (check|challenge|required|verification))?$/,
  /^prove your humanity( \| .{1,30})?$/,
  /^you have been blocked$/,
  /^sorry, you have been blocked$/,
  /^unusual traffic( detected)?$/,
]

/** A cookie or consent wall: the whole answer is about something else. */
const CONSENT = [
  /^before you continue( to .{1,40})?$/,
  /^bevor sie (zu .{1,40} weitergehen|fortfahren|.{1,40} (aufrufen|nutzen))$/,
  /^avant d'(accéder|aller) (à|sur) .{1,40}$/,
  /^antes de (ir|continuar|acceder) .{1,40}$/,
  /^voordat je verdergaat( naar .{1,40})?$/,
  /^prima di continuare( su .{1,40})?$/,
  /^(cookie|privacy) (consent|wall|settings|preferences|notice)$/,
  /^(your|we value your) privacy( matters)?( choices)?$/,
  /^(cookie-einwilligung|datenschutzeinstellungen)$/,
]

/** Placeholders and error pages that come with 200 OK: another source on the page may be better. */
const EMPTY = [
  /^(untitled|untitled (document|page)|no title|new (page|document)|title)$/,
  /^(loading|redirecting|redirect|please wait while .{1,60})$/,
  /^(404|403|410|500|502|503|504)( \| )?( ?(not found|page not found|forbidden|gone|(internal )?server error|bad gateway|service (temporarily )?unavailable|gateway time-?out))?$/,
  /^(page|file|object)? ?not found( \| (error )?404)?$/,
  /^(error|an error occurred|application error|internal server error|access denied|forbidden|service unavailable|bad gateway)$/,
  /^(object moved|document moved|302 found|301 moved permanently)$/,
  /^(undefined|null|\[object object\])$/,
  /^(javascript|js) (is )?(required|disabled)$/,
]

/** Only when a redirect led here: someone who saves a login page means it. */
const LOGIN = [
  /^((sign|log) ?in|login|log on|anmelden|anmeldung|einloggen|connexion|se connecter|iniciar sesión|inloggen|accedi|войти)( to .{1,40}| \| .{1,40})?$/,
]

export type Junk = 'challenge' | 'consent' | 'empty' | 'login'

const TABLE: readonly [Junk, readonly RegExp[]][] = [
  ['challenge', CHALLENGE],
  ['consent', CONSENT],
  ['empty', EMPTY],
  ['login', LOGIN],
]

/** What kind of junk a cleaned title is; undefined when it is a title. */
export function junkKind(title: string): Junk | undefined {
  const plain = title
    .toLowerCase()
    .replace(/[’‘]/g, "'")
    .replace(/[.…!?]*\s+[-–—|·•:]+\s+/g, ' | ')
    .replace(/[\s.…!?]+$/, '')
  return TABLE.find(([, patterns]) => patterns.some((one) => one.test(plain)))?.[0]
}

/** Headers by which a wall says that it is one. */
export function isChallengeHeader(header: (name: string) => string | undefined): boolean {
  return (
    header('cf-mitigated')?.toLowerCase() === 'challenge' ||
    /^(challenge|captcha)$/i.test(header('x-amzn-waf-action') ?? '')
  )
}

/** Hosts that redirects lead to for consent alone. */
export function isConsentHost(hostname: string): boolean {
  return /^(consent|consentmanager|cookieconsent|guce)\./.test(hostname)
}
