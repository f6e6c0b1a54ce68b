import { createNetns, deleteNetns, runIn } from '@spout/sys'
import { KERNEL_FEATURES, type KernelFeature } from '../kernel-features.ts'
import type { NodePlace } from '../place.ts'

export interface KernelReading {
  readonly tried: number
  /** What the kernel refused, with its own words. */
  readonly refused: readonly { readonly feature: KernelFeature; readonly error: string }[]
}

/**
 * Tries each feature in a network namespace that is made for it and removed again. The kernel loads modules for it, as it
 * would when the agent asks.
 */
export async function readKernelFeatures({ config }: NodePlace): Promise<KernelReading> {
  const namespace = `${config.instance}-doctor${process.pid}`
  await createNetns(namespace)
  try {
    const refused: { readonly feature: KernelFeature; readonly error: string }[] = []
    // One after the other: some share names of links and tables.
    for (const feature of KERNEL_FEATURES) {
      const error = await refusal(namespace, feature)
      if (error !== null) refused.push({ feature, error })
    }
    return { tried: KERNEL_FEATURES.length, refused }
  } finally {
    await deleteNetns(namespace)
  }
}

async function refusal(namespace: string, feature: KernelFeature): Promise<string | null> {
  const argv = 'rules' in feature ? (['nft', '-f', '-'] as const) : (['ip', '-batch', '-'] as const)
  const input = `${('rules' in feature ? feature.rules : feature.links).join('\n')}\n`
  try {
    await runIn(namespace, argv, { input })
    return null
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error)
    return words.replace(/^nsenter: exit \d+: /, '').replaceAll(/\s+/g, ' ')
  }
}
