import { Component, type ReactNode } from 'react'

/**
 * The last resort: a part that cannot be drawn takes the page with it, and this says so instead of leaving it blank.
 * Nothing that was saved, kept on the device or drafted is touched by it.
 */
export class Crash extends Component<{ children: ReactNode }, { broken: boolean }> {
  override state = { broken: false }

  static getDerivedStateFromError() {
    return { broken: true }
  }

  override render() {
    if (!this.state.broken) return this.props.children
    return (
      <main className="alone" id="main">
        <section className="card empty">
          <h1>This page broke</h1>
          <p>
            Nothing is lost: what you saved is saved, and drafts are kept. Loading the page again usually
            helps.
          </p>
          <button type="button" className="btn primary" onClick={() => location.reload()}>
            Load it again
          </button>
        </section>
      </main>
    )
  }
}
