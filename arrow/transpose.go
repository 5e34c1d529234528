package vastarrow

import "unsafe"

// gather copies n parts of size bytes each from src to dst. In src, the first part is at the start, and each
// next part begins stride bytes after the start of the part before it. In dst, the parts lie side by side.
// The addresses of all parts are multiples of align.
func gather(dst, src []byte, stride, size, align, n int) {
	if n == 0 {
		return
	}
	if stride == size {
		copy(dst[:n*size], src)
		return
	}
	_, _ = dst[n*size-1], src[(n-1)*stride+size-1] // the loops below do not check bounds
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	switch wordSize(size, align) {
	case 1:
		move[uint8](d, s, 1, stride, n)
	case 2:
		move[uint16](d, s, 2, stride, n)
	case 4:
		move[uint32](d, s, 4, stride, n)
	case 8:
		move[uint64](d, s, 8, stride, n)
	default:
		for i := range n {
			copy(dst[i*size:(i+1)*size], src[i*stride:])
		}
	}
}

// scatter is the reverse of gather: the parts lie side by side in src. In dst, each part begins stride bytes
// after the start of the part before it. The addresses of all parts are multiples of align.
func scatter(dst, src []byte, stride, size, align, n int) {
	if n == 0 {
		return
	}
	if stride == size {
		copy(dst, src[:n*size])
		return
	}
	_, _ = src[n*size-1], dst[(n-1)*stride+size-1]
	d, s := unsafe.Pointer(unsafe.SliceData(dst)), unsafe.Pointer(unsafe.SliceData(src))
	switch wordSize(size, align) {
	case 1:
		move[uint8](d, s, stride, 1, n)
	case 2:
		move[uint16](d, s, stride, 2, n)
	case 4:
		move[uint32](d, s, stride, 4, n)
	case 8:
		move[uint64](d, s, stride, 8, n)
	default:
		for i := range n {
			copy(dst[i*stride:], src[i*size:(i+1)*size])
		}
	}
}

// wordSize returns size if the parts have the alignment of a number of this size, and 0 otherwise. Some
// machines cannot access a number without its alignment. For example, a part [2]int32 may lie at an address
// that is no multiple of the size of a uint64.
func wordSize(size, align int) int {
	if align < size {
		return 0
	}
	return size
}

// move copies n values. From one value to the next, the address grows by srcStride bytes in src, and by
// dstStride bytes in dst. The callers have checked that the first and the last value lie in their slices, so
// all values do.
func move[T uint8 | uint16 | uint32 | uint64](dst, src unsafe.Pointer, dstStride, srcStride, n int) {
	i := 0
	for ; i+4 <= n; i += 4 { // four values a round are faster than one
		a := *(*T)(unsafe.Add(src, i*srcStride))
		b := *(*T)(unsafe.Add(src, (i+1)*srcStride))
		c := *(*T)(unsafe.Add(src, (i+2)*srcStride))
		e := *(*T)(unsafe.Add(src, (i+3)*srcStride))
		*(*T)(unsafe.Add(dst, i*dstStride)) = a
		*(*T)(unsafe.Add(dst, (i+1)*dstStride)) = b
		*(*T)(unsafe.Add(dst, (i+2)*dstStride)) = c
		*(*T)(unsafe.Add(dst, (i+3)*dstStride)) = e
	}
	for ; i < n; i++ {
		*(*T)(unsafe.Add(dst, i*dstStride)) = *(*T)(unsafe.Add(src, i*srcStride))
	}
}
