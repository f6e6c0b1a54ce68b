/**
 * Maps with one value for a frontend, under the frontend's name: its backend; with routes, the backend of unmatched
 * requests; its HSTS header; the listener whose load balancer's metrics it serves; the listener whose requests it logs;
 * the hosts that it separates; whether a request needs more than its backend.
 */
export const VALUE_MAPS = ['backend', 'defaults', 'hsts', 'metrics', 'logs', 'hosts', 'extras'] as const
/** Maps in which a frontend has rows, under its own name and a key. Rows lead to rows of maps before theirs. */
export const ROW_MAPS = [
  'tests',
  'answers',
  'share-filters',
  'shares',
  'limits',
  'mirrors',
  'filters',
  'authorizers',
  'routes',
  'choices',
  'paths',
] as const
/** The maps of a process. */
export const MAPS = [...VALUE_MAPS, ...ROW_MAPS] as const
export type ValueMap = (typeof VALUE_MAPS)[number]
export type RowMap = (typeof ROW_MAPS)[number]
export type MapName = ValueMap | RowMap

export const isValueMap = (map: MapName): map is ValueMap => VALUE_MAPS.some((one) => one === map)
