import { Mark } from '../ui/icon.tsx'

/** What Garner is, in the three fills that every screen then uses. */
export function Idea() {
  return (
    <aside className="idea" aria-label="About Garner">
      <p className="brand">
        <Mark />
        Garner
      </p>
      <div>
        <p className="promise">
          <span>Save now,</span> the details fill in later.
        </p>
        <p className="more">A shared reading list that never makes you wait, on a machine that is yours.</p>
      </div>
      <ul className="fills">
        <li>
          <span className="hollow" />
          <div>
            <strong>You paste a link</strong>
            <br />
            That is all you do.
          </div>
        </li>
        <li>
          <span className="hatched" />
          <div>
            <strong>It is kept</strong>
            <br />
            Close the page. Pull the plug. It stays.
          </div>
        </li>
        <li>
          <span className="solid" />
          <div>
            <strong>It fills in</strong>
            <br />
            The title comes when the site answers.
          </div>
        </li>
      </ul>
    </aside>
  )
}
