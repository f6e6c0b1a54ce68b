import { SealBroken } from '@spout/runtime/sealing-keys'
import { type AdmissionContext, putOver, transact } from '../claims/context.ts'

/** Kinds with a sealed text, and the field that has it. */
const SEALED = { certificate: 'sealedKey', secret: 'sealedPayload' } as const
type SealedKind = keyof typeof SEALED

/**
 * Seals anew what older sealing keys sealed, so that they can be removed from the configuration.
 * @returns how many certificates and secrets no configured key can open
 */
export async function sealAnew(context: AdmissionContext): Promise<number> {
  return (await sealKindAnew(context, 'certificate')) + (await sealKindAnew(context, 'secret'))
}

async function sealKindAnew(context: AdmissionContext, kind: SealedKind): Promise<number> {
  const { sealing, view } = context
  if (sealing === null) return 0
  let closed = 0
  for (const { id } of view.list(kind)) {
    const sealed = sealedText(context, kind, id)
    if (sealed === null || sealing.isNewest(sealed)) continue
    try {
      sealing.open(sealed, id)
    } catch (error) {
      if (!(error instanceof SealBroken)) throw error
      closed++
      continue
    }
    await transact(context, () => {
      const stored = view.get(kind, id)
      const before = sealedText(context, kind, id)
      if (stored === null || before === null || sealing.isNewest(before)) return { writes: [], result: undefined }
      const next = { ...stored.value, [SEALED[kind]]: sealing.seal(sealing.open(before, id), id) }
      return { writes: [putOver(kind, stored, next)], result: undefined }
    })
  }
  return closed
}

const sealedText = ({ view }: AdmissionContext, kind: SealedKind, id: string): string | null =>
  (kind === 'certificate' ? view.get(kind, id)?.value.sealedKey : view.get(kind, id)?.value.sealedPayload) ?? null
