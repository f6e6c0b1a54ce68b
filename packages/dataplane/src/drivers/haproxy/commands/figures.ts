/** Names of figures, and the columns of `show stat` that they are in (HAProxy management guide, 9.1). */
export type Columns = Readonly<Record<string, string>>
export type Figures<Of extends Columns> = Readonly<Record<keyof Of, number>>

/** The lines of `show stat`, CSV with a header line. A figure that a line does not have is 0. */
export function* figuresIn<Of extends Columns>(
  csv: string,
  named: Of,
): Generator<{ readonly proxy: string; readonly name: string; readonly figures: Figures<Of> }> {
  const [header = '', ...lines] = csv.split('\n')
  const columns = header.replace(/^# /, '').split(',')
  const [proxyAt, nameAt] = [columns.indexOf('pxname'), columns.indexOf('svname')]
  const places = Object.entries(named).map(([figure, column]) => [figure, columns.indexOf(column)] as const)
  for (const line of lines) {
    const fields = line.split(',')
    const [proxy, name] = [fields[proxyAt], fields[nameAt]]
    if (proxy === undefined || name === undefined) continue
    const figures = Object.fromEntries(places.map(([figure, at]) => [figure, Number(fields[at] ?? 0) || 0]))
    yield { proxy, name, figures: figures as Figures<Of> }
  }
}
