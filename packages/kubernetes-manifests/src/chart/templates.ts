import { parseDocument } from 'yaml'
import { CONTROL_PLANE_HOST } from '../in-cluster/names.ts'
import type { KubernetesObject } from '../in-cluster/pod.ts'
import { NAMESPACE } from '../namespace.ts'
import { objectYaml } from '../object-yaml.ts'
import { FILLINGS, HOLES } from './holes.ts'
import { SEVERAL_FILLINGS } from './several.ts'

/** The template of an object of the installation: its YAML, with the values that go into it. */
export function templateOf(object: KubernetesObject): string {
  const key = `${object.kind}/${object.metadata.name}`
  const filled: Place[] = [
    ...HOLES.filter((hole) => hole.object === key).map(({ at, value }) => ({
      at,
      put: `{{ toJson .Values.${value} }}`,
    })),
    ...[...FILLINGS, ...SEVERAL_FILLINGS]
      .filter((filling) => filling.object === key)
      .map(({ at, put, unlessEmpty }) => ({
        at,
        put: unlessEmpty === undefined ? put : `${put}${CONDITION}${unlessEmpty}`,
      })),
  ]
  const copy = structuredClone<object>(object) as Tree
  const [texts, fields] = [filled.filter(isInText), filled.filter((place) => !isInText(place))]
  for (const { at, put } of fields) place(copy, at, put)
  for (const [name, text] of Object.entries(object.data ?? {})) {
    const ofText = texts.filter(({ at }) => at[1] === name).map(({ at, put }) => ({ at: at.slice(2), put }))
    place(copy, ['data', name], textTemplate(text, ofText))
  }
  return inAnyNamespace(actions(objectYaml(copy)))
}

/** Text that names our namespace, for whichever the release is in. */
export const inAnyNamespace = (text: string): string =>
  text
    .replaceAll(new RegExp(`(?<=\\bnamespace: )${NAMESPACE}$`, 'gm'), RELEASE_NAMESPACE)
    .replaceAll(CONTROL_PLANE_HOST, CONTROL_PLANE_HOST.replace(NAMESPACE, RELEASE_NAMESPACE))
    // Accounts and objects in settings: `spout/agent`.
    .replaceAll(new RegExp(`(?<= )${NAMESPACE}/(?=[a-z]+\\b)`, 'g'), `${RELEASE_NAMESPACE}/`)

const RELEASE_NAMESPACE = '{{ .Release.Namespace }}'

interface Place {
  readonly at: readonly (string | number)[]
  readonly put: string
}
type Tree = { [key: string]: unknown }

const isInText = ({ at }: Place): boolean => at[0] === 'data'

/** Between what is put and the condition for it, until the object is printed. */
const CONDITION = '#if '

function place(tree: Tree, at: readonly (string | number)[], put: string): void {
  const [first = '', ...rest] = at
  if (rest.length === 0) {
    tree[first] = put
    return
  }
  tree[first] ??= {}
  place(tree[first] as Tree, rest, put)
}

function textTemplate(text: string, places: readonly Place[]): string {
  const document = parseDocument(text)
  for (const { at, put } of places) document.setIn(at, put)
  return actions(document.toString({ lineWidth: 0 }))
}

/** YAML prints an action as the text that it is: this takes the quotes away, and puts conditions around fields. */
const actions = (yaml: string): string =>
  yaml
    .replaceAll(
      /^( *)([^\s:]+): (['"])(\{\{.*\}\})#if (.*)\3$/gm,
      (_, indent, key, _quote, put, condition) =>
        `${indent}{{- if ${condition} }}\n${indent}${key}: ${put}\n${indent}{{- end }}`,
    )
    .replaceAll(/(['"])(\{\{ .* \}\})\1$/gm, '$2')
