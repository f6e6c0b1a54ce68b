/** Labels of the cluster's namespaces, kept in memory. */
export interface NamespaceLabels {
  /** Whether all were listed once. */
  readonly ready: boolean
  /** Null while the namespace was not seen. */
  of(namespace: string): Readonly<Record<string, string>> | null
  /** Calls back with the name of each that changed. */
  onChange(listener: (namespace: string) => void): () => void
}
