import { RESPONSE_CLASSES } from '@spout/model/node-report'
import { bytesText, type Counts, quantileText, rateText } from '../../rates.ts'
import type { Column, Row } from '../../resources/resource.ts'

const figure = (title: string, of: (counts: Counts) => string): Column => ({
  title,
  value: (row) => of(row.counts as Counts),
})

/** Requests a second are those of HTTP listeners, errors too. */
const REQUEST_RATES = [
  figure('REQUESTS/S', ({ requests }) => rateText(requests)),
  figure('ERRORS/S', ({ errors }) => rateText(errors)),
]
const REQUEST_TOTALS = [
  figure('REQUESTS', ({ requests }) => String(requests)),
  ...RESPONSE_CLASSES.filter((each) => each !== '1xx').map((each) =>
    figure(each.toUpperCase(), ({ responses }) => String(responses[each])),
  ),
]
const LATENCIES = [
  figure('P50', ({ latencies }) => quantileText(latencies, 0.5)),
  figure('P99', ({ latencies }) => quantileText(latencies, 0.99)),
]

/** Columns of rates per second. */
export const RATES: readonly Column[] = [
  ...REQUEST_RATES,
  figure('CONNECTIONS/S', ({ connections }) => rateText(connections)),
  figure('OPEN', ({ open }) => String(open)),
  figure('IN/S', ({ bytesIn }) => bytesText(bytesIn)),
  figure('OUT/S', ({ bytesOut }) => bytesText(bytesOut)),
]
/** Columns of totals. */
export const TOTALS: readonly Column[] = [
  ...REQUEST_TOTALS,
  figure('CONNECTIONS', ({ connections }) => String(connections)),
  figure('OPEN', ({ open }) => String(open)),
  figure('IN', ({ bytesIn }) => bytesText(bytesIn)),
  figure('OUT', ({ bytesOut }) => bytesText(bytesOut)),
]
/** Columns of pools and routes, which count requests only. */
export const PART_RATES: readonly Column[] = [...REQUEST_RATES, ...LATENCIES]
export const PART_TOTALS: readonly Column[] = [...REQUEST_TOTALS, ...LATENCIES]

/** Adds the quantiles if one of the rows has latencies. */
export const withLatencies = (columns: readonly Column[], rows: readonly Row[]): readonly Column[] =>
  rows.some(({ counts }) => (counts as Counts).latencies.length > 0) ? [...columns, ...LATENCIES] : columns
