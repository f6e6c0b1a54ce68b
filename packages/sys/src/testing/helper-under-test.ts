import { HelperError } from '../helper-protocol/errors.ts'
import type { Log } from '../log.ts'
import { NativeHelper } from '../native-helper.ts'
import { buildHelper } from './native-builds.ts'
import { createSegment, type Segment } from './segment.ts'

/** A running helper and a segment for it to work on. */
export interface HelperUnderTest {
  readonly helper: NativeHelper
  readonly segment: Segment
  /** `segment.nearPath`. */
  readonly netns: string
  /** Ends both. Resolves with the lines that the helper wrote to stderr, where sanitizers report faults and leaks. */
  end(): Promise<readonly object[]>
}

export async function startHelperUnderTest(path: string, label: string): Promise<HelperUnderTest> {
  const said: object[] = []
  const log: Log = { debug: () => undefined, info: () => undefined, warn: (fields) => said.push(fields) }
  await buildHelper()
  const segment = await createSegment(label)
  try {
    const helper = await NativeHelper.start({ path, log })
    const end = async () => {
      await helper.close()
      await segment.remove()
      return said
    }
    return { helper, segment, netns: segment.nearPath, end }
  } catch (error) {
    await segment.remove()
    throw error
  }
}

/** The HelperError that a call is expected to end with. */
export async function refusal(call: Promise<unknown>): Promise<HelperError> {
  const error = await call.then(
    () => null,
    (reason: unknown) => reason,
  )
  if (!(error instanceof HelperError)) throw new Error(`expected a HelperError, got ${String(error)}`)
  return error
}
