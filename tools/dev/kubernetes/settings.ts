import { UsageError } from '../verb.ts'

/** The settings of `--set` that are for the story. The others are for the control plane. */
export interface StorySettings {
  /** Whether the story includes a cluster of the provider. */
  readonly managementCluster: boolean
}

const PREFIX = 'story.'
export const MANAGEMENT_CLUSTER = `${PREFIX}managementCluster`
const YES_OR_NO: Readonly<Record<string, boolean>> = { true: true, false: false }

/** Settings of the story, and those of the control plane. @throws UsageError that names the setting */
export function splitSettings(
  set: readonly string[],
  kubernetes: boolean,
): { readonly story: StorySettings; readonly others: readonly string[] } {
  const ofStory = set.filter((setting) => setting.startsWith(PREFIX))
  let managementCluster = false
  for (const setting of ofStory) {
    const [key = '', value = ''] = setting.split(/=(.*)/s)
    if (key !== MANAGEMENT_CLUSTER)
      throw new UsageError(`--set ${key}: the only setting of the story is ${MANAGEMENT_CLUSTER}`)
    if (!kubernetes) throw new UsageError(`--set ${key} needs --kubernetes`)
    const wanted = YES_OR_NO[value]
    if (wanted === undefined) throw new UsageError(`--set ${key}: "${value}" is neither true nor false`)
    managementCluster = wanted
  }
  return { story: { managementCluster }, others: set.filter((setting) => !ofStory.includes(setting)) }
}
