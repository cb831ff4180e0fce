import { words } from '../words';

/** A schema of OpenAPI v3, as far as it is read here. */
export interface Schema {
  readonly $ref?: string;
  readonly allOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly required?: readonly string[];
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly nullable?: boolean;
  readonly 'x-kubernetes-int-or-string'?: boolean;
  readonly 'x-kubernetes-preserve-unknown-fields'?: boolean;
  readonly 'x-kubernetes-validations'?: readonly {
    readonly rule: string;
    readonly message?: string;
  }[];
  readonly 'x-kubernetes-group-version-kind'?: readonly {
    readonly group: string;
    readonly version: string;
    readonly kind: string;
  }[];
}

/** The schema of one kind, with the document that its references point into. */
export class KindSchema {
  readonly root: Schema;
  readonly #all: Readonly<Record<string, Schema>>;

  constructor(root: Schema, all: Readonly<Record<string, Schema>>) {
    this.root = this.#join(root, all);
    this.#all = all;
  }

  /** What a schema means after its references; descriptions of the place outrank those of the type. */
  resolve(schema: Schema | undefined): Schema | undefined {
    return schema && this.#join(schema, this.#all);
  }

  /** The schema at a path, with any number for an item of a list; undefined where none is known. */
  at(path: readonly (string | number)[]): Schema | undefined {
    let schema: Schema | undefined = this.root;
    for (const step of path) {
      if (!schema) return undefined;
      schema = this.resolve(this.#below(schema, step));
    }
    return schema;
  }

  #below(schema: Schema, step: string | number): Schema | undefined {
    if (typeof step === 'number') return schema.items;
    const own = schema.properties?.[step];
    if (own) return own;
    return typeof schema.additionalProperties === 'object'
      ? schema.additionalProperties
      : undefined;
  }

  #join(schema: Schema, all: Readonly<Record<string, Schema>>): Schema {
    let joined = schema;
    // Schemas that hold themselves (JSONSchemaProps) end because only one level is joined at a time.
    for (let depth = 0; depth < 5; depth++) {
      const parts = [...(joined.$ref ? [{ $ref: joined.$ref }] : []), ...(joined.allOf ?? [])];
      if (parts.length === 0) return joined;
      const { $ref: _, allOf: __, ...own } = joined;
      const others = parts.map((part) => (part.$ref ? all[nameOf(part.$ref)] : part) ?? {});
      joined = Object.assign({}, ...others, own) as Schema;
    }
    return joined;
  }
}

const nameOf = (ref: string) => decodeURIComponent(ref.slice(ref.lastIndexOf('/') + 1));

/** Whether fields that the schema does not name are allowed. */
export function isOpen(schema: Schema): boolean {
  return (
    !schema.properties ||
    Boolean(schema.additionalProperties) ||
    schema['x-kubernetes-preserve-unknown-fields'] === true
  );
}

/** "integer", "[]object", "map of string", for people. */
export function typeWords(schema: Schema, kind: KindSchema): string {
  const { types } = words;
  if (schema['x-kubernetes-int-or-string'] || schema.format === 'int-or-string') {
    return types.intOrString;
  }
  if (schema.type === 'array') {
    const items = kind.resolve(schema.items);
    return types.list(items ? typeWords(items, kind) : types.any);
  }
  if (typeof schema.additionalProperties === 'object') {
    const values = kind.resolve(schema.additionalProperties);
    return types.map(values ? typeWords(values, kind) : types.any);
  }
  return schema.type ?? types.any;
}
