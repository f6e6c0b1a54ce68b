import type { DrainFate, DrainMove } from '@spout/model'
import { useQuery } from '@tanstack/react-query'
import { previewDrain } from '../api/nodes.ts'
import { keys } from '../api/query-keys.ts'
import { FATE_WORDS } from '../load-balancers/preview/preview-words.ts'
import { Badge } from '../parts/badge.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { durationText } from '../parts/time-text.ts'
import { Words } from '../parts/words.tsx'
import styles from './drain-preview.module.css'
import { muchWords, placeWords, waitWords, whoseWords } from './drain-words.ts'

/** What the drain of a node would do, as it is now. */
export function DrainPreview({ id }: { readonly id: string }) {
  const query = useQuery({
    queryKey: keys.drain(id),
    queryFn: ({ signal }) => previewDrain(id, signal),
    staleTime: 0,
  })
  return (
    <Loaded query={query}>
      {(preview) => (
        <div className={styles.preview}>
          {waitWords(preview).map((words) => (
            <p key={words}>{words}</p>
          ))}
          <section>
            <h3>What moves</h3>
            {preview.moves.length === 0 ? <p>It announces nothing: nothing moves.</p> : <Moves of={preview.moves} />}
          </section>
          {preview.connections.length > 0 && (
            <section>
              <h3>Open connections</h3>
              <Fates of={preview.connections} />
            </section>
          )}
        </div>
      )}
    </Loaded>
  )
}

const Moves = ({ of }: { readonly of: readonly DrainMove[] }) => (
  <ul className={styles.list}>
    {of.map((move) => (
      <li key={`${move.shard} ${move.to?.id} ${move.message}`}>
        <strong>{placeWords(move)}</strong>: {muchWords(move)}
        {move.how !== 'shard' && move.how !== 'owner' && (
          <>
            .{' '}
            <span className={styles.why}>
              <Words of={move.message} />
            </span>
          </>
        )}
      </li>
    ))}
  </ul>
)

const Fates = ({ of }: { readonly of: readonly DrainFate[] }) => (
  <ul className={styles.list}>
    {of.map((one) => (
      <li key={one.code}>
        <Badge tone={FATE_WORDS[one.fate].tone}>{FATE_WORDS[one.fate].word}</Badge> {whoseWords(one)}:{' '}
        <Words of={one.message} />
        {one.afterSeconds !== null && ` After ${durationText(one.afterSeconds)}.`}
      </li>
    ))}
  </ul>
)
