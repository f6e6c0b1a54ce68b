import { useQuery } from '@tanstack/react-query'
import { Words } from '../parts/words.tsx'
import styles from './problem-list.module.css'
import { type Block, type RunbookSection as Section, withoutLinks } from './runbook.ts'

/** The section of the runbook for a problem. Undefined while it is not loaded, and where the runbook has none. */
export function useRunbook(code: string, anchor?: string | null): Section | undefined {
  const { data } = useQuery({
    queryKey: ['runbook'],
    queryFn: async () => (await import('./runbook-text.ts')).RUNBOOK,
    staleTime: Number.POSITIVE_INFINITY,
  })
  return data?.sections.get(anchor ?? data.anchors.get(code) ?? '')
}

/** What the runbook says of a problem, folded. */
export function RunbookSection({ section }: { readonly section: Section }) {
  return (
    <details className={styles.runbook}>
      <summary>What to do</summary>
      <div className={styles.text}>
        {section.blocks.map((block, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the text never changes
          <Paragraph key={at} block={block} />
        ))}
      </div>
    </details>
  )
}

function Paragraph({ block }: { readonly block: Block }) {
  if (block.is === 'text')
    return (
      <p>
        <Words of={withoutLinks(block.text)} />
      </p>
    )
  if (block.is === 'code')
    return (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      <pre className={styles.scroll} tabIndex={0}>
        {block.text}
      </pre>
    )
  if (block.is === 'table') return <Rows rows={block.rows} />
  const items = block.items.map((item) => (
    <li key={item}>
      <Words of={withoutLinks(item)} />
    </li>
  ))
  return block.is === 'steps' ? <ol>{items}</ol> : <ul>{items}</ul>
}

const Rows = ({ rows: [head = [], ...rows] }: { readonly rows: readonly (readonly string[])[] }) => (
  <div className={styles.scroll}>
    <table>
      <thead>
        <tr>
          {head.map((cell) => (
            <th key={cell} scope="col">
              <Words of={withoutLinks(cell)} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.join('|')}>
            {row.map((cell) => (
              <td key={cell}>
                <Words of={withoutLinks(cell)} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)
