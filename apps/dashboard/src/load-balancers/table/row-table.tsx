import type { LoadBalancerRow } from '@spout/model'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { useLayoutEffect, useRef, useState } from 'react'
import { COLUMNS, type Column } from './columns.tsx'
import styles from './row-table.module.css'
import type { TableSearch } from './table-search.ts'

const ROW_HEIGHT = 60
const MORE = 8

interface Props {
  readonly rows: readonly LoadBalancerRow[]
  readonly search: TableSearch
  readonly onChange: (search: TableSearch) => void
  /** Whether they are of several projects. */
  readonly hasProjects: boolean
}

/** The rows, of which only those in sight are in the document. The window scrolls. */
export function RowTable({ rows, search, onChange, hasProjects }: Props) {
  const frame = useRef<HTMLTableElement>(null)
  const [top, setTop] = useState(0)
  useLayoutEffect(() => setTop(frame.current?.offsetTop ?? 0), [])
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => ROW_HEIGHT,
    overscan: MORE,
    scrollMargin: top,
    getItemKey: (at) => rows[at]?.id ?? at,
  })
  const items = virtual.getVirtualItems()
  const above = (items[0]?.start ?? top) - top
  const below = virtual.getTotalSize() - ((items.at(-1)?.end ?? top) - top)
  const columns = COLUMNS.filter(({ id }) => id !== 'project' || hasProjects)
  return (
    <table ref={frame} className={styles.table} aria-rowcount={rows.length + 1}>
      <thead>
        <tr aria-rowindex={1}>
          {columns.map((column) => (
            <Head key={column.id} column={column} search={search} onChange={onChange} />
          ))}
        </tr>
      </thead>
      <tbody>
        <Space height={above} />
        {items.map(({ index, key }) => {
          const row = rows[index]
          return (
            row && (
              <tr key={String(key)} aria-rowindex={index + 2} className={styles.row}>
                {columns.map(({ id, className, Cell }) =>
                  id === 'name' ? (
                    <th key={id} scope="row" className={className}>
                      <Cell row={row} />
                    </th>
                  ) : (
                    <td key={id} className={className}>
                      <Cell row={row} />
                    </td>
                  ),
                )}
              </tr>
            )
          )
        })}
        <Space height={below} />
      </tbody>
    </table>
  )
}

/** Takes the place of rows that are out of sight. */
const Space = ({ height }: { readonly height: number }) =>
  height > 0 && (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: a row cannot have the focus
    <tr aria-hidden="true">
      <td className={styles.space} style={{ blockSize: height }} />
    </tr>
  )

interface HeadProps extends Pick<Props, 'search' | 'onChange'> {
  readonly column: Column
}

function Head({ column: { id, title, className, sort }, search, onChange }: HeadProps) {
  if (sort === undefined)
    return (
      <th scope="col" className={className}>
        {title}
      </th>
    )
  const isSorted = (search.sort ?? 'health') === sort.by
  const down = search.down === true
  const turn = (): void => {
    const next = isSorted ? !down : sort.first === 'down'
    onChange({ ...search, sort: sort.by === 'health' ? undefined : sort.by, down: next || undefined })
  }
  return (
    <th scope="col" className={className} aria-sort={isSorted ? (down ? 'descending' : 'ascending') : 'none'}>
      <button type="button" className={styles.sort} onClick={turn} data-key={id}>
        {title}
        <span aria-hidden="true" className={styles.arrow}>
          {isSorted ? (down ? '↓' : '↑') : ''}
        </span>
      </button>
    </th>
  )
}
