import type { QuotaResource } from '@spout/model'
import type { ProjectQuota } from '../api/quotas.ts'
import { levelOf, percentOf, type QuotaLevel } from './quota-level.ts'

/** One resource of a quota, for a bar. */
export interface QuotaRow {
  readonly resource: QuotaResource
  readonly title: string
  readonly used: number
  readonly limit: number
  /** 0 to 100, also where more is used than a lowered limit allows. */
  readonly percent: number
  readonly level: QuotaLevel
  /** `12 of 100`. */
  readonly text: string
}

const TITLES: Readonly<Record<QuotaResource, string>> = {
  loadBalancers: 'Load balancers',
  listeners: 'Listeners',
  pools: 'Pools',
  members: 'Members',
  healthMonitors: 'Health monitors',
  routes: 'Routes',
  routeConditions: 'Conditions of routes',
  networks: 'Networks',
  addresses: 'Addresses',
  certificates: 'Certificates',
  secrets: 'Secrets',
  securityGroups: 'Security groups',
  bytes: 'Stored documents',
}

/** The resources of a quota in their usual order. */
export const quotaRows = ({ limits, used }: Pick<ProjectQuota, 'limits' | 'used'>): readonly QuotaRow[] =>
  (Object.keys(TITLES) as QuotaResource[]).map((resource) => {
    const [most, now] = [limits[resource], used[resource]]
    const textOf = resource === 'bytes' ? bytesText : countText
    return {
      resource,
      title: TITLES[resource],
      used: now,
      limit: most,
      percent: percentOf(now, most),
      level: levelOf(now, most),
      text: `${textOf(now)} of ${textOf(most)}`,
    }
  })

/** The resource that is nearest to its limit. */
export const fullest = (rows: readonly QuotaRow[]): QuotaRow | null =>
  rows.reduce<QuotaRow | null>((best, row) => (best === null || row.percent > best.percent ? row : best), null)

const countText = (count: number): string => count.toLocaleString('en')

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const
function bytesText(bytes: number): string {
  const unit = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10))
  const value = bytes / 1024 ** unit
  return `${value.toLocaleString('en', { maximumFractionDigits: value < 10 ? 1 : 0 })} ${UNITS[unit]}`
}
