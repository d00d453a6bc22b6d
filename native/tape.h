/* JSON that is plain beyond doubt, as a tape: a node for each value and each key, in their order, with the places of its bytes.
 *
 * Plain is standard JSON (RFC 8259) that every reader takes for the same: keys without escapes, none twice in an object, numbers
 * that a double or 64 bits hold, no half of a surrogate pair, nothing nested deeper than records are. Of anything else the scan
 * says only where it begins. Bytes must be UTF-8; of memory, no more is read than they are.
 */
#ifndef WH_TAPE_H
#define WH_TAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum kind {
    ABSENT, /* of no node: a record has nothing at a path */
    IS_NULL,
    IS_TRUE,
    IS_FALSE,
    INTEGER,
    FLOAT,
    TEXT,
    OBJECT,
    ARRAY,
    NUMBERS, /* an array of numbers alone, or of nothing: its elements have no nodes */
    KEY,
};

/* A value's bytes are from `start` to `stop`; a key's are those between its quotes. `next` is the node behind all that is in it;
 * of NUMBERS, how many there are. */
typedef struct {
    uint32_t start, stop, next;
    uint8_t kind, depth;
} node;

/* The first node of a record, and whether all of its keys are those that the record before it has in the same objects, at the
 * same nodes. */
typedef struct {
    uint32_t first;
    bool has_no_new_key;
} record;

typedef struct {
    const uint8_t *data; /* somebody else's, and there as long as this is */
    size_t size;
    node *nodes;
    size_t node_count, node_room;
    record *records;
    size_t record_count, record_room;
    size_t before, first; /* while it is scanned: the first nodes of the record before, and of this one */
    bool has_no_new_key, is_odd;
} tape;

/* Adds the object or array that begins at `at`. The place behind it; 0 where there is none: the bytes end within it or, then
 * `is_odd`, it is not plain. */
size_t scan_record(tape *scanned, size_t at);

size_t after_blanks(const tape *scanned, size_t at);
bool is_same(const uint8_t *one, const uint8_t *other, size_t size);

static inline size_t after_node(const tape *scanned, size_t place) {
    return scanned->nodes[place].kind == NUMBERS ? place + 1 : scanned->nodes[place].next;
}

#endif
