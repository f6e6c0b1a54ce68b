import { type Catalogue, checkOf, type Found } from '@spout/runtime/findings'
import { type ClockReading, readClock } from '../readings/clock.ts'

const FINDINGS = {
  ClockDiffers: {
    level: 'error',
    what: "the node's clock differs by more than 30 s from the control plane's",
    why: 'Certificates count as not yet valid or expired too early, and times in reports and logs do not fit together.',
    fix: '`timedatectl set-ntp true`',
  },
  ClockAlone: {
    level: 'warning',
    what: 'nothing keeps the clock right: the kernel says that it is not synchronised',
    why: 'It drifts by seconds in a week. Once it is minutes off, certificates fail.',
    fix: '`timedatectl set-ntp true`, with systemd-timesyncd or chrony installed',
  },
} as const satisfies Catalogue

/** A certificate is issued a minute back, so that this much does no harm. */
const MOST_MS = 30_000

export function judgeClock({ synchronised, aheadMs }: ClockReading): readonly Found<keyof typeof FINDINGS>[] {
  const fix = 'timedatectl set-ntp true'
  if (aheadMs !== null && Math.abs(aheadMs) > MOST_MS) {
    const seconds = Math.round(Math.abs(aheadMs) / 1000)
    const message = `It is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} the control plane's.`
    return [{ code: 'ClockDiffers', subject: null, message, fix }]
  }
  if (synchronised) return []
  return [{ code: 'ClockAlone', subject: null, message: 'The kernel says that it is not synchronised.', fix }]
}

export const clock = checkOf({
  name: 'clock',
  catalogue: FINDINGS,
  read: readClock,
  judge: judgeClock,
  right: ({ aheadMs }) => `It is synchronised${aheadMs === null ? '' : ", and within 30 s of the control plane's"}.`,
})
