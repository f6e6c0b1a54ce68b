import { stringify } from 'yaml'
import { z } from 'zod'
import type { KubeObject, ObjectMeta, Resource } from '../types/index.ts'
import { type CelRules, withRules } from './cel-rules.ts'
import { type SchemaNode, structural } from './structural-schema.ts'

export interface PrinterColumn {
  readonly name: string
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'date'
  /** Such as `.spec.cidr`. */
  readonly jsonPath: string
  readonly description?: string
  /** Above 0: shown only with `-o wide`. */
  readonly priority?: number
}

export const AGE_COLUMN: PrinterColumn = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }

export interface CrdVersion {
  /** Such as `v1alpha1`. */
  readonly name: string
  readonly spec: z.ZodType
  /** Makes the status a sub-resource: permission to write the object does not include it. */
  readonly status?: z.ZodType
  readonly served?: boolean
  readonly deprecated?: boolean
  readonly printerColumns?: readonly PrinterColumn[]
  readonly rules?: CelRules
}

export interface CrdDraft {
  readonly group: string
  readonly kind: string
  readonly plural: string
  readonly shortNames?: readonly string[]
  readonly categories?: readonly string[]
  readonly scope: 'Namespaced' | 'Cluster'
  readonly description: string
  /** The first version is the stored one. */
  readonly versions: readonly [CrdVersion, ...CrdVersion[]]
}

/** apiextensions.k8s.io/v1 CustomResourceDefinition. */
export interface CustomResourceDefinition extends KubeObject {
  readonly apiVersion: 'apiextensions.k8s.io/v1'
  readonly kind: 'CustomResourceDefinition'
  readonly metadata: ObjectMeta
  readonly spec: Readonly<Record<string, unknown>>
}

export const CUSTOM_RESOURCE_DEFINITIONS: Resource<CustomResourceDefinition> = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  plural: 'customresourcedefinitions',
  namespaced: false,
}

/**
 * The schema of `status.conditions`: a list with the type as key, so that several writers do not overwrite each other.
 */
export const conditionsSchema = z
  .array(
    z.strictObject({
      type: z
        .string()
        .regex(/^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?[A-Za-z0-9][-A-Za-z0-9_.]*$/)
        .max(316),
      status: z.enum(['True', 'False', 'Unknown']),
      observedGeneration: z.int().min(0).optional(),
      lastTransitionTime: z.string().meta({ format: 'date-time' }),
      reason: z
        .string()
        .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
        .min(1)
        .max(1024),
      message: z.string().max(32_768),
    }),
  )
  .max(32)
  .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] })

/**
 * Makes a CustomResourceDefinition of zod schemas. Refinements of zod are not converted: write them as rules.
 *
 * @throws NotStructural naming the field that Kubernetes cannot express
 */
export function customResourceDefinition(draft: CrdDraft): CustomResourceDefinition {
  const { group, kind, plural, shortNames, categories, scope } = draft
  const singular = kind.toLowerCase()
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames ? { shortNames } : {}),
        ...(categories ? { categories } : {}),
      },
      scope,
      versions: draft.versions.map((version, index) => versionOf(draft, version, index === 0)),
    },
  }
}

/**
 * The definition as YAML; equal input gives equal bytes. Kubernetes reads YAML 1.1, in which `on` and `no` are
 * booleans.
 */
export const crdYaml = (definition: CustomResourceDefinition): string =>
  stringify(definition, { version: '1.1', lineWidth: 0, aliasDuplicateObjects: false })

function versionOf(draft: CrdDraft, version: CrdVersion, storage: boolean): object {
  const { name, spec, status, served = true, deprecated, printerColumns = [AGE_COLUMN], rules = {} } = version
  const schema: SchemaNode = {
    description: draft.description,
    type: 'object',
    // The server knows the schema of these three fields.
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      spec: schemaOf(spec, 'spec'),
      ...(status === undefined ? {} : { status: schemaOf(status, 'status') }),
    },
    required: ['spec'],
  }
  return {
    name,
    served,
    storage,
    ...(deprecated ? { deprecated } : {}),
    schema: { openAPIV3Schema: withRules(schema, rules) },
    ...(status === undefined ? {} : { subresources: { status: {} } }),
    additionalPrinterColumns: printerColumns,
  }
}

/** The schema of what clients send. The server fills in defaults, so fields with a default are not required. */
const schemaOf = (schema: z.ZodType, at: string): SchemaNode =>
  structural(z.toJSONSchema(schema, { target: 'openapi-3.0', io: 'input', unrepresentable: 'any' }) as SchemaNode, at)
