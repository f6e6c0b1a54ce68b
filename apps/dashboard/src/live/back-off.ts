const FIRST_MS = 250
const MOST_MS = 15_000
/** A control plane that restarts is away for some seconds. Until then the page must be back soon after it. */
const PATIENT_AFTER = 20
const SOON_MS = 1000

/**
 * How long to wait before a stream is opened again.
 * @param failures how often it failed in a row, from 1
 * @param random from 0 to 1: pages that lost the same server do not come back at once
 */
export function backOffMs(failures: number, random: number): number {
  const soon = Math.min(SOON_MS, FIRST_MS * 2 ** (failures - 1))
  const over = failures - PATIENT_AFTER
  const wait = over <= 0 ? soon : Math.min(MOST_MS, SOON_MS * 2 ** over)
  return wait * (0.75 + random / 2)
}
