export const VIEWS = ['path', 'members', 'charts', 'changes', 'text', 'edit'] as const
export type View = (typeof VIEWS)[number]

/** What is shown of one load balancer, as it stands in the URL. */
export interface DetailSearch {
  /** Absent: the path. */
  readonly view?: View | undefined
}

export const detailSearch = (search: Readonly<Record<string, unknown>>): DetailSearch => {
  const view = VIEWS.find((one) => one === search['view'])
  return view === undefined ? {} : { view }
}
