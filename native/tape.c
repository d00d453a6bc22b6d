#include "tape.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 100              /* records have ten levels at most */
#define SURE_INTEGER_DIGITS 18   /* so many fit 64 bits; of a nineteenth that is to be seen */
#define MOST_NUMBER_BYTES 64     /* longer ones are nobody's measurement */
#define MOST_EXPONENT_DIGITS 2   /* with three a number may be too large for a double */
#define FEW_KEYS 64

#define ONES UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)
#define HAS_ZERO(word) (((word) - ONES) & ~(word) & HIGHS)

/* Each of these steps takes the place where it begins, and gives the one behind what it has read: 0 where it cannot. */
static size_t value(tape *scanned, size_t at, int depth);

static inline int byte_at(const tape *scanned, size_t at) {
    return at < scanned->size ? scanned->data[at] : -1;
}

static inline uint64_t word_of(const uint8_t *bytes) {
    uint64_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static inline bool has_word(const tape *scanned, size_t at) {
    return at + 8 <= scanned->size;
}

/* What stands here is not plain, or, at the end of the bytes, not whole. */
static size_t halt(tape *scanned, size_t at) {
    scanned->is_odd = at < scanned->size;
    return 0;
}

static size_t odd(tape *scanned) {
    scanned->is_odd = true;
    return 0;
}

size_t after_blanks(const tape *scanned, size_t at) {
    int byte;
    while ((byte = byte_at(scanned, at)) == ' ' || byte == '\n' || byte == '\t' || byte == '\r') {
        at++;
        while (has_word(scanned, at) && word_of(scanned->data + at) == ONES * ' ') at += 8;
    }
    return at;
}

bool is_same(const uint8_t *one, const uint8_t *other, size_t size) {
    if (size < 8) {
        for (size_t place = 0; place < size; place++)
            if (one[place] != other[place]) return false;
        return true;
    }
    for (size_t place = 0; place + 8 <= size; place += 8)
        if (word_of(one + place) != word_of(other + place)) return false;
    return word_of(one + size - 8) == word_of(other + size - 8);
}

static inline bool push(tape *scanned, int kind, size_t start, size_t stop, int depth) {
    if (scanned->node_count == scanned->node_room) {
        size_t room = 2 * scanned->node_room + 1024;
        node *nodes = realloc(scanned->nodes, room * sizeof *nodes);
        if (!nodes) return false;
        scanned->nodes = nodes;
        scanned->node_room = room;
    }
    uint32_t next = (uint32_t)scanned->node_count + 1;
    scanned->nodes[scanned->node_count++] = (node){(uint32_t)start, (uint32_t)stop, next, (uint8_t)kind, (uint8_t)depth};
    return true;
}

static inline size_t pushed(tape *scanned, int kind, size_t start, size_t stop, int depth) {
    return push(scanned, kind, start, stop, depth) ? stop : odd(scanned);
}

/* How many bytes there are before a quote, a backslash, a control character or the end. */
static inline size_t plain_bytes(const tape *scanned, size_t at) {
    size_t from = at;
    for (; has_word(scanned, at); at += 8) {
        uint64_t word = word_of(scanned->data + at);
        if (HAS_ZERO(word ^ (ONES * '"')) | HAS_ZERO(word ^ (ONES * '\\')) | ((word - ONES * 0x20) & ~word & HIGHS)) break;
    }
    for (int byte; (byte = byte_at(scanned, at)) >= 0x20 && byte != '"' && byte != '\\';) at++;
    return at - from;
}

static int32_t code_unit(const tape *scanned, size_t at) {
    int32_t unit = 0;
    for (size_t place = at; place < at + 4; place++) {
        int byte = byte_at(scanned, place), lower = byte | 0x20;
        if (byte >= '0' && byte <= '9') unit = unit * 16 + byte - '0';
        else if (lower >= 'a' && lower <= 'f') unit = unit * 16 + lower - 'a' + 10;
        else return -1;
    }
    return unit;
}

static size_t after_escape(tape *scanned, size_t at) {
    int mark = byte_at(scanned, at + 1);
    if (mark > 0 && strchr("\"\\/bfnrt", mark)) return at + 2;
    if (mark != 'u') return halt(scanned, at + 1);
    if (at + 6 > scanned->size) return halt(scanned, scanned->size);
    int32_t unit = code_unit(scanned, at + 2);
    if (unit < 0 || (unit >= 0xDC00 && unit <= 0xDFFF)) return odd(scanned);
    if (unit < 0xD800 || unit > 0xDFFF) return at + 6;
    if (at + 12 > scanned->size) return halt(scanned, scanned->size);
    int32_t low = byte_at(scanned, at + 6) == '\\' && byte_at(scanned, at + 7) == 'u' ? code_unit(scanned, at + 8) : -1;
    return low >= 0xDC00 && low <= 0xDFFF ? at + 12 : odd(scanned);
}

/* Behind the closing quote of the text that begins here. */
static inline size_t text(tape *scanned, size_t start, bool *is_escaped) {
    *is_escaped = false;
    for (size_t at = start + 1;;) {
        at += plain_bytes(scanned, at);
        int mark = byte_at(scanned, at);
        if (mark == '"') return at + 1;
        if (mark != '\\') return halt(scanned, at);
        *is_escaped = true;
        at = after_escape(scanned, at);
        if (!at) return 0;
    }
}

static inline bool are_digits(uint64_t word) {
    return ((word & 0xF0F0F0F0F0F0F0F0u) | (((word + 0x0606060606060606u) & 0xF0F0F0F0F0F0F0F0u) >> 4)) == 0x3333333333333333u;
}

/* Behind one digit or more; the bytes may not end with them, for more may follow. */
static inline size_t digits(tape *scanned, size_t start) {
    size_t at = start;
    while (has_word(scanned, at) && are_digits(word_of(scanned->data + at))) at += 8;
    for (int byte; (byte = byte_at(scanned, at)) >= '0' && byte <= '9';) at++;
    return at == start || at >= scanned->size ? halt(scanned, at) : at;
}

static bool fits_64_bits(const uint8_t *written, size_t count) {
    return count < 19 || (count == 19 && memcmp(written, "9223372036854775807", 19) <= 0);
}

static inline size_t number(tape *scanned, size_t start, int depth) {
    const uint8_t *data = scanned->data;
    size_t first = start + (data[start] == '-'), at = digits(scanned, first);
    if (!at) return 0;
    size_t count = at - first;
    int kind = INTEGER;
    if (data[first] == '0' && (count > 1 || (first > start && data[at] != '.' && (data[at] | 0x20) != 'e')))
        return odd(scanned); /* 01 is no number; -0 is a double to some readers, an integer without a sign to others */
    if (data[at] == '.') {
        kind = FLOAT;
        if (!(at = digits(scanned, at + 1))) return 0;
    }
    if ((data[at] | 0x20) == 'e') {
        kind = FLOAT;
        int sign = byte_at(scanned, at + 1);
        size_t exponent = at + 1 + (sign == '+' || sign == '-');
        if (!(at = digits(scanned, exponent))) return 0;
        if (at - exponent > MOST_EXPONENT_DIGITS) return odd(scanned);
    }
    if (at - start > MOST_NUMBER_BYTES || (count > SURE_INTEGER_DIGITS && !fits_64_bits(data + first, count))) return odd(scanned);
    return pushed(scanned, kind, start, at, depth);
}

static size_t literal(tape *scanned, size_t at, const char *written, int kind, int depth) {
    size_t count = strlen(written), there = scanned->size - at < count ? scanned->size - at : count;
    if (memcmp(scanned->data + at, written, there)) return odd(scanned);
    return there < count ? halt(scanned, scanned->size) : pushed(scanned, kind, at, at + count, depth);
}

/* What the record before has in its same place as this one has at `place`, if it is of this kind and as deep. */
static inline const node *expected_at(const tape *scanned, size_t place, int kind, int depth) {
    size_t same = scanned->before + place - scanned->first;
    if (same >= scanned->first) return NULL;
    const node *found = scanned->nodes + same;
    return found->kind == kind && found->depth == depth ? found : NULL;
}

/* A key. Whether it is what an object of the record before, which ends with its node `end`, has in the same place. */
static inline size_t key(tape *scanned, size_t at, size_t end, int depth, bool *is_expected) {
    *is_expected = false;
    if (byte_at(scanned, at) != '"') return halt(scanned, at);
    size_t place = scanned->node_count;
    const node *expected = scanned->before + place - scanned->first < end ? expected_at(scanned, place, KEY, depth) : NULL;
    if (expected) {
        size_t size = expected->stop - expected->start, stop = at + 1 + size;
        if (byte_at(scanned, stop) == '"' && is_same(scanned->data + at + 1, scanned->data + expected->start, size)) {
            *is_expected = true;
            return push(scanned, KEY, at + 1, stop, depth) ? stop + 1 : odd(scanned);
        }
    }
    bool is_escaped;
    size_t stop = text(scanned, at, &is_escaped);
    if (!stop) return 0;
    return !is_escaped && push(scanned, KEY, at + 1, stop - 1, depth) ? stop : odd(scanned);
}

typedef struct {
    const uint8_t *text;
    size_t size;
} key_text;

static int in_order(const void *one, const void *other) {
    const key_text *a = one, *b = other;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return memcmp(a->text, b->text, a->size);
}

/* Whether an object, all of whose pairs have nodes, has a key twice; or that is not known, for want of memory. */
static bool has_key_twice(const tape *scanned, size_t object) {
    key_text few[FEW_KEYS], *keys = few;
    size_t count = 0;
    for (size_t place = object + 1; place < scanned->node_count; place = after_node(scanned, place + 1)) count++;
    if (count > FEW_KEYS && !(keys = malloc(count * sizeof *keys))) return true;
    count = 0;
    for (size_t place = object + 1; place < scanned->node_count; place = after_node(scanned, place + 1)) {
        const node *found = scanned->nodes + place;
        keys[count++] = (key_text){scanned->data + found->start, found->stop - found->start};
    }
    qsort(keys, count, sizeof *keys, in_order);
    bool is_twice = false;
    for (size_t place = 1; place < count; place++) is_twice = is_twice || !in_order(keys + place - 1, keys + place);
    if (keys != few) free(keys);
    return is_twice;
}

static size_t closed(tape *scanned, size_t place, size_t stop) {
    scanned->nodes[place].stop = (uint32_t)stop;
    scanned->nodes[place].next = (uint32_t)scanned->node_count;
    return stop;
}

static size_t object(tape *scanned, size_t start, int depth) {
    size_t place = scanned->node_count;
    if (depth == DEEPEST || !push(scanned, OBJECT, start, 0, depth)) return odd(scanned);
    const node *before = expected_at(scanned, place, OBJECT, depth);
    size_t expected_end = before ? before->next : 0;
    bool are_expected = true;
    size_t at = after_blanks(scanned, start + 1);
    if (byte_at(scanned, at) != '}') {
        for (;; at++) {
            bool is_expected;
            if (!(at = key(scanned, after_blanks(scanned, at), expected_end, depth + 1, &is_expected))) return 0;
            are_expected = are_expected && is_expected;
            at = after_blanks(scanned, at);
            if (byte_at(scanned, at) != ':') return halt(scanned, at);
            if (!(at = value(scanned, after_blanks(scanned, at + 1), depth + 1))) return 0;
            at = after_blanks(scanned, at);
            int mark = byte_at(scanned, at);
            if (mark == '}') break;
            if (mark != ',') return halt(scanned, at);
        }
    }
    /* Keys that all stood so in one object before are as different as they were there. */
    if (!are_expected && has_key_twice(scanned, place)) return odd(scanned);
    scanned->has_no_new_key = scanned->has_no_new_key && are_expected;
    return closed(scanned, place, at + 1);
}

static size_t array(tape *scanned, size_t start, int depth) {
    size_t place = scanned->node_count, count = 0;
    if (depth == DEEPEST || !push(scanned, ARRAY, start, 0, depth)) return odd(scanned);
    bool are_numbers = true;
    size_t at = after_blanks(scanned, start + 1);
    if (byte_at(scanned, at) != ']') {
        for (;; at++) {
            size_t element = scanned->node_count;
            if (!(at = value(scanned, after_blanks(scanned, at), depth + 1))) return 0;
            int kind = scanned->nodes[element].kind;
            are_numbers = are_numbers && (kind == INTEGER || kind == FLOAT);
            count++;
            at = after_blanks(scanned, at);
            int mark = byte_at(scanned, at);
            if (mark == ']') break;
            if (mark != ',') return halt(scanned, at);
        }
    }
    if (are_numbers) scanned->node_count = place + 1;
    closed(scanned, place, at + 1);
    if (are_numbers) {
        scanned->nodes[place].kind = NUMBERS;
        scanned->nodes[place].next = (uint32_t)count;
    }
    return at + 1;
}

static size_t value(tape *scanned, size_t at, int depth) {
    switch (byte_at(scanned, at)) {
    case '"': {
        bool is_escaped;
        size_t stop = text(scanned, at, &is_escaped);
        return stop ? pushed(scanned, TEXT, at, stop, depth) : 0;
    }
    case '{': return object(scanned, at, depth);
    case '[': return array(scanned, at, depth);
    case 'n': return literal(scanned, at, "null", IS_NULL, depth);
    case 't': return literal(scanned, at, "true", IS_TRUE, depth);
    case 'f': return literal(scanned, at, "false", IS_FALSE, depth);
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        return number(scanned, at, depth);
    default: return halt(scanned, at);
    }
}

size_t scan_record(tape *scanned, size_t at) {
    scanned->before = scanned->first;
    scanned->first = scanned->node_count;
    scanned->has_no_new_key = true;
    int mark = byte_at(scanned, at);
    size_t stop = mark == '{' ? object(scanned, at, 0) : mark == '[' ? array(scanned, at, 0) : halt(scanned, at);
    if (stop && scanned->record_count == scanned->record_room) {
        size_t room = 2 * scanned->record_room + 64;
        record *records = realloc(scanned->records, room * sizeof *records);
        if (!records) stop = odd(scanned);
        else {
            scanned->records = records;
            scanned->record_room = room;
        }
    }
    if (!stop) scanned->node_count = scanned->first;
    else scanned->records[scanned->record_count++] = (record){(uint32_t)scanned->first, scanned->has_no_new_key};
    return stop;
}
