import { expect, test } from 'vitest'
import { NGINX_ANNOTATIONS, NGINX_PREFIX } from '../ingress-nginx/registry.ts'
import { answer, compiled } from '../testing/compiled.ts'
import { ingress, rule } from '../testing/objects.ts'
import { SERVED } from '../testing/served-annotations.ts'

/** One Ingress with the annotations, and another one with the same path, whose canary it may be. */
const contentOf = (annotations: Readonly<Record<string, string>>) => {
  const rules = [rule('a.example /x Prefix next'), rule('c.example / Prefix next')]
  const spec = { rules, tls: [{ secretName: 's', hosts: ['a.example'] }] }
  const prefixed = Object.entries(annotations).map(([name, value]) => [`${NGINX_PREFIX}${name}`, value])
  const one = ingress('one', 2, spec, Object.fromEntries(prefixed))
  const other = ingress('other', 1, { rules: [rule('a.example /x Prefix web'), rule('c.example / Prefix web')] })
  const all = annotations['canary'] === undefined ? [one] : [one, other]
  const made = compiled(...all)
  return { made, problems: made.problems.get(one.metadata.uid ?? '') ?? [] }
}

const rows = [...NGINX_ANNOTATIONS].map(([name, { support, note }]) => ({ name, support, note }))

test.each(rows.filter(({ support }) => support === 'taken' || support === 'differs'))('$name is served', ({ name }) => {
  const given = SERVED[name]
  expect(given, `a value of ${name}`).toBeDefined()
  const [value, beside] = typeof given === 'string' ? [given, {}] : given!
  const [without, having] = [contentOf(beside), contentOf({ ...beside, [name]: value })]
  const isTold = having.problems.some(({ field }) => field.includes(`/${name}]`))
  if (!isTold) expect(having.made.content).not.toEqual(without.made.content)
})

test.each(rows.filter(({ support }) => support === 'refused'))('$name makes paths refused, and says so', ({ name }) => {
  const { made, problems } = contentOf({ [name]: 'on' })
  expect(answer(made, { path: '/x' }, 'https')).toBe('503')
  expect(problems).toContainEqual(
    expect.objectContaining({ reason: 'AnnotationRefused', field: expect.stringContaining(`/${name}]`) }),
  )
})

test.each(rows.filter(({ support }) => support === 'not taken'))('$name changes nothing, and is said', ({ name }) => {
  const { made, problems } = contentOf({ [name]: 'on' })
  expect(made.content).toEqual(contentOf({}).made.content)
  expect(problems).toEqual([
    {
      reason: 'AnnotationNotTaken',
      field: `metadata.annotations[${NGINX_PREFIX}${name}]`,
      message: expect.stringMatching(/^not taken: .+\.$/),
    },
  ])
})

test('what nobody knows is said, too; thousands are not', () => {
  expect(contentOf({ 'of-tomorrow': 'x' }).problems).toMatchObject([{ reason: 'AnnotationNotTaken' }])
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`x${at}`, 'x']))
  expect(contentOf(many).problems).toHaveLength(100)
})
