/** Sum of all series of a metric whose labels contain these texts, in the Prometheus text format; 0 without any. */
export function metric(text: string, name: string, ...labels: readonly string[]): number {
  let sum = 0
  for (const line of text.split('\n')) {
    const rest = line.startsWith(name) ? line.slice(name.length) : ''
    if (!(rest.startsWith('{') || rest.startsWith(' '))) continue
    if (!labels.every((label) => rest.includes(label))) continue
    sum += Number(
      rest
        .slice(rest.lastIndexOf('}') + 1)
        .trim()
        .split(' ')[0],
    )
  }
  return sum
}
