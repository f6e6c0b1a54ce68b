/** Labels of the cluster's namespaces, kept in memory. */
export interface NamespaceLabels {
  /** Whether the first list is complete. */
  readonly ready: boolean
  /** The labels of a namespace; null until it has been seen. */
  of(namespace: string): Readonly<Record<string, string>> | null
  /** Calls back with the name of each namespace that changed. */
  onChange(listener: (namespace: string) => void): () => void
}
