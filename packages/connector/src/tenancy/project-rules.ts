/** A rule that assigns namespaces to a project. */
export interface ProjectRule {
  /** The name of the project in the connector's settings; unique. */
  readonly project: string
  /** Namespaces by name. */
  readonly namespaces: readonly string[]
  /** Namespaces that have all of these labels; null selects none. */
  readonly labels: Readonly<Record<string, string>> | null
  /** Whether the project also has all namespaces that no other rule matches. */
  readonly isDefault: boolean
}

/** What the rules say about a namespace. */
export type Ruling =
  | { readonly type: 'project'; readonly project: string }
  /** No rule matches. */
  | { readonly type: 'none' }
  /** It depends on labels that have yet to be read. */
  | { readonly type: 'unknown' }

/**
 * The project of a namespace: that of the first rule that names or selects it, else that of the default rule, wherever
 * it stands in the list.
 * @param labels null until the namespace has been seen
 */
export function projectOfNamespace(
  name: string,
  labels: Readonly<Record<string, string>> | null,
  rules: readonly ProjectRule[],
): Ruling {
  for (const rule of rules) {
    if (rule.namespaces.includes(name)) return { type: 'project', project: rule.project }
    if (rule.labels === null) continue
    if (labels === null) return { type: 'unknown' }
    if (Object.entries(rule.labels).every(([label, value]) => Object.hasOwn(labels, label) && labels[label] === value))
      return { type: 'project', project: rule.project }
  }
  const fallback = rules.find(({ isDefault }) => isDefault)
  return fallback === undefined ? { type: 'none' } : { type: 'project', project: fallback.project }
}

/** The labels that rules use. */
export const labelsOfRules = (rules: readonly ProjectRule[]): readonly string[] => [
  ...new Set(rules.flatMap(({ labels }) => Object.keys(labels ?? {}))),
]
