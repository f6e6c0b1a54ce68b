/**
 * The minor versions of Kubernetes that the test bed can run, and the file of `testbed/kubernetes` that pins the patch of
 * each and the modules that go with it.
 */
export const MODULE_FILES = {
  '1.36': 'go.mod',
  '1.35': 'go-1.35.mod',
} as const

export type KubernetesMinor = keyof typeof MODULE_FILES

/** What runs unless another one is asked for, and the only one of continuous integration: each takes minutes to build. */
export const USUAL_MINOR: KubernetesMinor = '1.36'

/**
 * @param asked the value of the environment variable SPOUT_KUBERNETES, such as `1.35`
 * @throws Error when it is none of the minors
 */
export function chosenMinor(asked: string | undefined): KubernetesMinor {
  if (asked === undefined || asked === '') return USUAL_MINOR
  if (isMinor(asked)) return asked
  throw new Error(`SPOUT_KUBERNETES: ${asked} is none of ${Object.keys(MODULE_FILES).join(', ')}`)
}

const isMinor = (text: string): text is KubernetesMinor => Object.hasOwn(MODULE_FILES, text)
