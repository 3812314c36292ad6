import { DatabaseSync } from 'node:sqlite'

/** Writes the rows that as many saves and marks would have left, without the hours they would take. */
export function fill(path: string, links: number, marks: number): void {
  const db = new DatabaseSync(path)
  db.exec('BEGIN')
  const members = ['alice', 'bob', ...Array.from({ length: 18 }, (_, n) => `member-${n}`)]
  const user = db.prepare(
    `INSERT OR IGNORE INTO users (id, name, email, role, status, demo, created_at, updated_at)
     VALUES (?, ?, NULL, 'member', 'approved', 1, '2026-01-01', '2026-01-01')`,
  )
  const member = db.prepare("INSERT OR IGNORE INTO memberships VALUES ('study', ?, 'member', 1, 0)")
  for (const id of members) {
    user.run(id, id)
    member.run(id)
  }
  const link = db.prepare(
    `INSERT INTO bookmarks (id, group_id, owner_id, url, page_key, note, page_title, title_status, title_tries,
       saved_at_ms, version, source_version, list_version, search)
     VALUES (?, 'study', ?, ?, ?, 'A note of some words.', ?, 'ready', 1, ?, 1, 1, ?, ?)`,
  )
  for (let n = 0; n < links; n++) {
    const url = `https://site-${n % 500}.example.com/articles/${n}`
    const title = `A title about things, number ${n}`
    const id = n.toString(16).padStart(32, '0')
    link.run(
      id,
      members[n % members.length]!,
      url,
      url,
      title,
      1_700_000_000_000 + n * 1000,
      n + 1,
      `${title} ${url}`,
    )
  }
  db.prepare("INSERT OR REPLACE INTO lists VALUES ('study', ?, ?, ?)").run(links, marks, links)
  const mark = db.prepare("INSERT OR IGNORE INTO read_marks VALUES ('study', ?, ?, ?)")
  for (let n = 0; n < marks; n++) {
    const linkNumber = Math.floor(n / members.length) % links
    mark.run(members[n % members.length]!, linkNumber.toString(16).padStart(32, '0'), n)
  }
  db.exec(`INSERT OR REPLACE INTO list_totals
    SELECT 'study', u.id, (SELECT count(*) FROM bookmarks WHERE group_id = 'study' AND owner_id = u.id),
      (SELECT count(*) FROM read_marks WHERE group_id = 'study' AND user_id = u.id) FROM users u`)
  db.exec('COMMIT')
  db.close()
}
