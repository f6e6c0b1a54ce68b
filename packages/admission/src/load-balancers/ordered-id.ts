const TIME_DIGITS = 12

/**
 * A UUID of version 7 (RFC 9562 section 5.7): first the time, then random digits. Objects that are created one after the
 * other are then neighbours in the store's indexes, and those of one flush share pages. With random ids, each object
 * would change pages of its own, which have to be written and checkpointed.
 * @param uuid a random one, of version 4
 * @param nowMs since 1970
 */
export function orderedId(uuid: string, nowMs: number): string {
  const time = nowMs.toString(16).padStart(TIME_DIGITS, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuid.slice('xxxxxxxx-xxxx-4'.length)}`
}
