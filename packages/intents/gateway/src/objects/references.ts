/** A reference to an object. The defaults of its parts depend on the field that holds the reference. */
export interface ObjectRef {
  readonly group?: string
  readonly kind?: string
  readonly namespace?: string
  readonly name: string
}

/** Where a route wants to attach: by default to all listeners of a Gateway of its own namespace. */
export interface ParentRef extends ObjectRef {
  readonly sectionName?: string
  readonly port?: number
}

/** A backend of a rule, by default a Service, with its weight. */
export interface BackendRef extends ObjectRef {
  readonly port?: number
  /** 1 when left out. */
  readonly weight?: number
}
