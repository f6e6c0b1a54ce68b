import { unpack } from './registers.ts'
import type { Rendered } from './rendered.ts'
import { recordBytes, SETS, type SetName, type SetShape } from './sets.ts'

/**
 * Describes the elements of an entry, one per line; slots that share a member are on one line. Reads the packed bytes
 * back.
 */
export function describe(rendered: Rendered): string {
  const lines = [`${rendered.key} in domain ${rendered.domain}`]
  for (const [name, bytes] of rendered.records.entries()) {
    lines.push(`${name}:`)
    const elements = split(SETS[name], bytes)
    lines.push(
      ...(/^(member|dealt|nexthop|remote|spread)/.test(name)
        ? bySlots(name, elements)
        : elements.map((bytes) => element(name, bytes))),
    )
  }
  return `${lines.join('\n')}\n`
}

function split(shape: SetShape, bytes: Buffer): readonly Buffer[] {
  const size = recordBytes(shape)
  return Array.from({ length: bytes.length / size }, (_, index) => bytes.subarray(index * size, (index + 1) * size))
}

function element(name: SetName, record: Buffer): string {
  const shape: SetShape = SETS[name]
  const [keyType = '', dataType] = shape.type.split(' : ')
  const key = unpack(keyType, record)
  const rest = record.subarray(shape.keyBytes)
  if (shape.interval) return `  ${key.join(' . ')} to ${unpack(keyType, rest).at(-1)}`
  if (shape.countOver) return `  ${key.join(' . ')} ct count over ${Number(unpack('mark', rest)[0])}`
  return dataType === undefined
    ? `  ${key.join(' . ')}`
    : `  ${key.join(' . ')} : ${unpack(dataType, rest).join(' . ')}`
}

function bySlots(name: SetName, elements: readonly Buffer[]): readonly string[] {
  const [, dataType = ''] = SETS[name].type.split(' : ')
  const slots = new Map<string, number[]>()
  for (const bytes of elements) {
    const [mark, slot] = unpack('mark . mark', bytes)
    const target = `${mark} %s : ${unpack(dataType, bytes.subarray(8)).join(' . ')}`
    slots.set(target, [...(slots.get(target) ?? []), Number(slot)])
  }
  return Array.from(slots, ([target, numbers]) => `  ${target.replace('%s', `{ ${runs(numbers)} }`)}`)
}

/** `0-2 5` for 0, 1, 2 and 5. */
function runs(numbers: readonly number[]): string {
  const found: { first: number; last: number }[] = []
  for (const number of numbers) {
    const run = found.at(-1)
    if (run?.last === number - 1) run.last = number
    else found.push({ first: number, last: number })
  }
  return found.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(' ')
}
