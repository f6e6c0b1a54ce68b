const TIME_DIGITS = 12

/**
 * A UUID of version 7 (RFC 9562 section 5.7): its time first, then what is random. Objects that are made one after the
 * other are then neighbours in the store's indexes, so many of one flush share pages; by random ids each has pages of its
 * own, which are written and checkpointed for it.
 * @param uuid a random one, of version 4
 * @param nowMs since 1970
 */
export function orderedId(uuid: string, nowMs: number): string {
  const time = nowMs.toString(16).padStart(TIME_DIGITS, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${uuid.slice('xxxxxxxx-xxxx-4'.length)}`
}
