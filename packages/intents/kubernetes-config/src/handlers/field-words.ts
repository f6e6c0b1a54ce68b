import { Refused } from '@spout/client/native-api'
import { SpoutError } from '@spout/model'

/**
 * A refusal with its field as the object of Kubernetes has it: `ranges[0].last` is `addresses[0].last`. Other errors as
 * they are.
 *
 * @param names by the native API's field, the longest that fits counts
 */
export function inWordsOf(names: Readonly<Record<string, string>>, error: unknown): unknown {
  if (!(error instanceof SpoutError || error instanceof Refused)) return error
  const field = error.field ?? null
  if (field === null) return new Refused(error.code, error.message)
  const [native = ''] = Object.keys(names)
    .filter((name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`))
    .sort((a, b) => b.length - a.length)
  const ours = native === '' ? field : `${names[native]}${field.slice(native.length)}`
  return new Refused(error.code, error.message.replace(`Field ${field}`, `Field ${ours}`), ours)
}
