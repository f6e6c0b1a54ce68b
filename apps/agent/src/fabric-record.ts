import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { FabricChoice } from '@spout/model/fabric-choice'
import { readFileOrNull, writeFileAtomically } from '@spout/sys'

/** What the last agent of this node knew of the fabric. */
export interface FabricRecord {
  /** The interface that it worked on; null before the first start. */
  readonly interface: string | null
  /** What the node's group named. Null: nothing. */
  readonly group: FabricChoice | null
}

const NOTHING: FabricRecord = { interface: null, group: null }

/**
 * A file that was damaged counts as none: the control plane names the group's interface again, and a node works on.
 * @param onDamaged called with why it cannot be read
 */
export async function readFabricRecord(
  file: string,
  onDamaged: (error: unknown) => void = () => {},
): Promise<FabricRecord> {
  const bytes = await readFileOrNull(file)
  if (bytes === null) return NOTHING
  try {
    return recordIn(JSON.parse(bytes.toString('utf8')))
  } catch (error) {
    onDamaged(error)
    return NOTHING
  }
}

/** No schema: their library would cost every node its memory. Later versions may add fields. */
function recordIn(written: Partial<FabricRecord> | null): FabricRecord {
  if (typeof written !== 'object' || written === null) throw new Error('it is not an object')
  const { interface: name = null, group = null } = written
  if (!isTextOrNull(name)) throw new Error('interface is not a name')
  if (typeof group !== 'object' || !isTextOrNull(group?.interface ?? null) || !isTextOrNull(group?.reaches ?? null))
    throw new Error('group is not a choice of an interface')
  return { ...written, interface: name, group }
}

const isTextOrNull = (value: unknown): boolean => value === null || (typeof value === 'string' && value !== '')

/** Writes nothing if nothing differs. */
export async function changeFabricRecord(file: string, change: Partial<FabricRecord>): Promise<void> {
  const before = await readFabricRecord(file)
  const record = { ...before, ...change }
  if (isDeepStrictEqual(record, before)) return
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, JSON.stringify(record), { mode: 0o600 })
}
