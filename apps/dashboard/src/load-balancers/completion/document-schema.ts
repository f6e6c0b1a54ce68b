import schema from '../../../../../docs/reference/load-balancer.schema.json' with { type: 'json' }
import type { SchemaNode } from './schema-node.ts'

/** What can be changed in the document of a load balancer: the server's own schema. */
export const DOCUMENT_SCHEMA: SchemaNode = schema as object
