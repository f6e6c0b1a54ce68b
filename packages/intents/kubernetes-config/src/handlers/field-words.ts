import { Refused } from '@spout/client/native-api'
import { SpoutError } from '@spout/model'

/**
 * Translates the field that a refusal names to that of the Kubernetes object: `ranges[0].last` becomes
 * `addresses[0].last`. Other errors are returned unchanged.
 *
 * @param names the object's names of fields of the native API; the longest match counts
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
