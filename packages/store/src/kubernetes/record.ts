import { AGE_COLUMN, type CrdDraft, type KubeObject, type Resource } from '@spout/kube'
import { z } from 'zod'

/** A piece of a store in the API of a Kubernetes cluster. */
export interface StoreRecord extends KubeObject {
  readonly spec: RecordContent
}

export interface RecordContent {
  /** What it counts depends on the role: entries of the log, the entry that a snapshot ends with, renewals of a lease. */
  readonly number: number
  /** Of no other content, whoever wrote it. */
  readonly id: string
  /** Gzipped, in base64. */
  readonly data: string
}

/** What a record is for; part of its name, and a label. */
export type RecordRole =
  /** Which store it is, and where its newest snapshot is. There is one. */
  | 'root'
  /** A place for an entry of the log. */
  | 'slot'
  /** A piece of what is too long for one record. */
  | 'part'
  /** When the holder of a lease was last seen. */
  | 'lease'

const GROUP = 'store.spout.dev'

export const STORE_RECORDS: Resource<StoreRecord> = {
  apiVersion: `${GROUP}/v1`,
  kind: 'StoreRecord',
  plural: 'storerecords',
  namespaced: true,
}

/** Labels, by which the server selects records. */
export const LABELS = {
  /** The name of the store: a namespace may hold several. */
  store: `${GROUP}/name`,
  role: `${GROUP}/role`,
  /** The process that wrote it last. */
  writer: `${GROUP}/writer`,
  /** Of a part: what it is a part of. */
  set: `${GROUP}/set`,
} as const

/** etcd takes 1.5 MiB for a whole request. */
const MOST_DATA_CHARACTERS = 1_400_000

/** The definition of the kind. It is in a group of its own, so that rights to read Spout's other kinds do not include it. */
export const storeRecordCrd: CrdDraft = {
  group: GROUP,
  kind: 'StoreRecord',
  plural: 'storerecords',
  scope: 'Namespaced',
  description:
    'A piece of what Spout stores. Only the control plane reads and writes it: an edit or a deletion destroys the store.',
  versions: [
    {
      name: 'v1',
      spec: z.strictObject({
        number: z.int().min(0).describe('Counts entries of the log, or renewals of a lease.'),
        id: z.string().max(64).describe('Of no other content.'),
        data: z.string().max(MOST_DATA_CHARACTERS).describe('Gzipped, in base64.'),
      }),
      printerColumns: [
        { name: 'Role', type: 'string', jsonPath: `.metadata.labels.store\\.spout\\.dev/role` },
        { name: 'Number', type: 'integer', jsonPath: '.spec.number' },
        { name: 'Writer', type: 'string', jsonPath: `.metadata.labels.store\\.spout\\.dev/writer`, priority: 1 },
        AGE_COLUMN,
      ],
    },
  ],
}
