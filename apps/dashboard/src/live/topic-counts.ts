/** Counts who follows each topic. Pure: each change is a new map. */
export type TopicCounts = ReadonlyMap<string, number>

export function counted(counts: TopicCounts, topics: readonly string[], by: 1 | -1): TopicCounts {
  const next = new Map(counts)
  for (const topic of topics) {
    const count = (next.get(topic) ?? 0) + by
    if (count > 0) next.set(topic, count)
    else next.delete(topic)
  }
  return next
}
