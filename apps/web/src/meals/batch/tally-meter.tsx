import { type Tally, tallyWords } from './tally.ts'

/** The whole batch as one bar: solid, hatched, hollow; amber and red for what needs its person. */
export function TallyMeter({ tally }: { tally: Tally }) {
  const share = (n: number) => ({ inlineSize: `${(n / tally.all) * 100}%` })
  const toUpload = tally.uploading + tally.todo
  return (
    <>
      <div className="meter" role="img" aria-label={tallyWords(tally)}>
        {tally.logged > 0 && <i style={share(tally.logged)} />}
        {tally.coming > 0 && <i className="reserved" style={share(tally.coming)} />}
        {tally.uploading > 0 && <i className="up-now" style={share(tally.uploading)} />}
        {tally.todo > 0 && <i className="todo" style={share(tally.todo)} />}
        {tally.question > 0 && <i className="ask" style={share(tally.question)} />}
        {tally.undone > 0 && <i className="fail" style={share(tally.undone)} />}
      </div>
      <p className="legend">
        {tally.logged > 0 && (
          <span>
            <i className="key" />
            {tally.logged} logged
          </span>
        )}
        {tally.coming > 0 && (
          <span>
            <i className="key hatch" />
            {tally.coming} on their way, safe
          </span>
        )}
        {toUpload > 0 && (
          <span>
            <i className="key todo" />
            {toUpload} to upload
          </span>
        )}
        {tally.question > 0 && (
          <span>
            <i className="key ask" />
            {tally.question === 1 ? '1 question for you' : `${tally.question} questions for you`}
          </span>
        )}
        {tally.undone > 0 && (
          <span>
            <i className="key fail" />
            {tally.undone} not done
          </span>
        )}
      </p>
    </>
  )
}
