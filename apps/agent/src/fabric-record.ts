import { mkdir } from 'node:fs/promises'
import { dirname } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type FabricChoice, fabricChoice } from '@spout/model/fabric-choice'
import { readFileOrNull, writeFileAtomically } from '@spout/sys'
import { z } from 'zod'

/** Later versions may add fields. */
const fabricRecord = z.looseObject({
  interface: z.string().min(1).nullable().default(null),
  group: fabricChoice.nullable().default(null),
})

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
    return fabricRecord.parse(JSON.parse(bytes.toString('utf8')))
  } catch (error) {
    onDamaged(error)
    return NOTHING
  }
}

/** Writes nothing if nothing differs. */
export async function changeFabricRecord(file: string, change: Partial<FabricRecord>): Promise<void> {
  const before = await readFabricRecord(file)
  const record = { ...before, ...change }
  if (isDeepStrictEqual(record, before)) return
  await mkdir(dirname(file), { recursive: true, mode: 0o700 })
  await writeFileAtomically(file, JSON.stringify(record), { mode: 0o600 })
}
